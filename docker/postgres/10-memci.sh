#!/bin/sh
# Runs once, as the superuser, if the database folder is empty.
#
# Creates what only a superuser can create: pgvector, the three roles of memci, and two logins without
# other rights. That of the parts takes the roles for their work; that of migrations becomes the owner
# of the tables. `memci db upgrade` creates the tables.
set -eu

: "${MEMCI_DATABASE_PASSWORD:?set it in docker/.env}" "${MEMCI_MIGRATION_PASSWORD:?set it in docker/.env}"
login="${MEMCI_DATABASE_LOGIN:-memci}"
database="${MEMCI_DATABASE_NAME:-memci}"

psql -v ON_ERROR_STOP=1 --no-psqlrc --quiet \
    --username "${POSTGRES_USER:-postgres}" --dbname "${POSTGRES_DB:-postgres}" \
    -v login="$login" -v migration="${login}_migration" -v database="$database" <<'SQL'
-- Passwords are read here and are no arguments, because every user can read a command line.
\getenv password MEMCI_DATABASE_PASSWORD
\getenv migration_password MEMCI_MIGRATION_PASSWORD
-- The statements with the passwords must not be in the log.
SET log_statement = 'none';
SET log_min_error_statement = 'panic';
SELECT format('CREATE ROLE %I NOLOGIN NOINHERIT', role)
FROM unnest(ARRAY['memci_owner', 'memci_app', 'memci_upkeep']) AS role
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role)
\gexec
CREATE ROLE :"login" LOGIN NOINHERIT PASSWORD :'password';
CREATE ROLE :"migration" LOGIN NOINHERIT PASSWORD :'migration_password';
GRANT memci_app, memci_upkeep TO :"login" WITH INHERIT FALSE, SET TRUE;
GRANT memci_owner TO :"migration" WITH INHERIT FALSE, SET TRUE;
CREATE DATABASE :"database" OWNER memci_owner;
\connect :"database"
CREATE EXTENSION IF NOT EXISTS vector;
GRANT CREATE, USAGE ON SCHEMA public TO memci_owner;
SQL
