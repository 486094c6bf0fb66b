"""The console: pages under ``/console`` that show what agents remember, and how it fades."""
