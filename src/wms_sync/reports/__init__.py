"""What an operator or analyst asks for: status, doctor, and where a shipment came from. Nothing here writes."""
