"""From files to chunks: reads formats and code, imports their libraries, and uses no database."""
