"""What tables say, as text, charts and pages."""
