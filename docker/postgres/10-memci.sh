#!/bin/sh
# Runs once, as the superuser, if the database folder is empty.
#
# Creates what only a superuser can create: pgvector, the three roles of memci, and a login that can
# take each role and has no other rights. `memci db upgrade` creates the tables.
set -eu

: "${MEMCI_DATABASE_PASSWORD:?set it in docker/.env}"
login="${MEMCI_DATABASE_LOGIN:-memci}"
database="${MEMCI_DATABASE_NAME:-memci}"

psql -v ON_ERROR_STOP=1 --no-psqlrc --quiet \
    --username "${POSTGRES_USER:-postgres}" --dbname "${POSTGRES_DB:-postgres}" \
    -v login="$login" -v database="$database" <<'SQL'
-- The password is read here and is no argument, because every user can read a command line.
\getenv password MEMCI_DATABASE_PASSWORD
-- The statement with the password must not be in the log.
SET log_statement = 'none';
SET log_min_error_statement = 'panic';
SELECT format('CREATE ROLE %I NOLOGIN NOINHERIT', role)
FROM unnest(ARRAY['memci_owner', 'memci_app', 'memci_upkeep']) AS role
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role)
\gexec
CREATE ROLE :"login" LOGIN NOINHERIT PASSWORD :'password';
GRANT memci_owner, memci_app, memci_upkeep TO :"login" WITH INHERIT FALSE, SET TRUE;
CREATE DATABASE :"database" OWNER memci_owner;
\connect :"database"
CREATE EXTENSION IF NOT EXISTS vector;
GRANT CREATE, USAGE ON SCHEMA public TO memci_owner;
SQL
