"""Reports for operators and analysts: status, doctor, and where a shipment came from. Nothing here writes."""
