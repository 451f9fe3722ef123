"""Reports for operators and analysts: status, doctor, findings, explanations, exports, the report and alerts."""
