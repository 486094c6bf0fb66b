"""From files to chunks: reads formats and code, and imports their libraries; knows no database."""
