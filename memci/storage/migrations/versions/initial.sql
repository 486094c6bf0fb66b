-- The tables of memci and their indexes. memci/storage/schema describes the tables with rows of
-- agents for the code. A test compares both.
--
-- There are no foreign keys. Every write holds the lock of the agent's lane. Links may dangle by
-- design (M14). An erasure removes all rows of an agent by their first column.

CREATE TABLE lane (
    agent_id TEXT NOT NULL,
    fence BIGINT DEFAULT 0 NOT NULL,
    lease_owner UUID,
    lease_until timestamptz,
    wake_at timestamptz,
    compress_at timestamptz,
    not_before timestamptz,
    compress_req BIGINT DEFAULT 0 NOT NULL,
    compress_done BIGINT DEFAULT 0 NOT NULL,
    compress_cursor JSONB,
    paused BOOLEAN DEFAULT false NOT NULL,
    halted_by UUID,
    message_seq BIGINT DEFAULT 0 NOT NULL,
    last_node_id BIGINT DEFAULT 0 NOT NULL,
    pass_number BIGINT DEFAULT 0 NOT NULL,
    mentions BIGINT DEFAULT 0 NOT NULL,
    indexed_messages BIGINT DEFAULT 0 NOT NULL,
    indexed_terms BIGINT DEFAULT 0 NOT NULL,
    documents BIGINT DEFAULT 0 NOT NULL,
    last_document_id BIGINT DEFAULT 0 NOT NULL,
    last_chunk_id BIGINT DEFAULT 0 NOT NULL,
    indexed_chunks BIGINT DEFAULT 0 NOT NULL,
    chunk_terms BIGINT DEFAULT 0 NOT NULL,
    erased_messages BIGINT DEFAULT 0 NOT NULL,
    stored_bytes BIGINT DEFAULT 0 NOT NULL,
    epoch INTEGER DEFAULT 0 NOT NULL,
    written_at timestamptz,
    read_at timestamptz,
    beat_at timestamptz,
    receipts_from timestamptz,
    new_memories BIGINT DEFAULT 0 NOT NULL,
    expire_at timestamptz,
    created_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (agent_id)
) WITH (fillfactor = 50);
-- Only due work is indexed: claims, renewals and counters stay HOT updates.
CREATE INDEX lane_compress_due ON lane (compress_at) WHERE compress_at IS NOT NULL;
CREATE INDEX lane_due ON lane (wake_at) WHERE wake_at IS NOT NULL;
CREATE INDEX lane_expire ON lane (expire_at) WHERE expire_at IS NOT NULL;

CREATE TABLE job (
    agent_id TEXT NOT NULL,
    id UUID NOT NULL,
    ordinal BIGINT GENERATED ALWAYS AS IDENTITY,
    kind TEXT NOT NULL,
    payload JSONB NOT NULL,
    source TEXT NOT NULL,
    state TEXT DEFAULT 'queued' NOT NULL,
    first_seq BIGINT,
    last_seq BIGINT,
    attempts INTEGER DEFAULT 0 NOT NULL,
    started INTEGER DEFAULT 0 NOT NULL,
    not_before timestamptz,
    last_error TEXT,
    result JSONB,
    models JSONB,
    traceparent TEXT,
    created_at timestamptz DEFAULT now() NOT NULL,
    started_at timestamptz,
    finished_at timestamptz,
    PRIMARY KEY (agent_id, id)
) WITH (fillfactor = 70);
CREATE INDEX job_dead ON job (agent_id) WHERE state = 'dead';
CREATE INDEX job_head ON job (agent_id, ordinal) WHERE state = 'queued';
-- Find a waiting job that names pages, summarises sessions, or looks for key messages and plans.
CREATE INDEX job_naming ON job (agent_id) WHERE state = 'queued' AND kind = 'memci.page.name';
CREATE INDEX job_summing ON job (agent_id)
    WHERE state = 'queued' AND kind = 'memci.session.summarise';
CREATE INDEX job_tracking ON job (agent_id) WHERE state = 'queued' AND kind = 'memci.message.track';

CREATE TABLE dead_letter (
    agent_id TEXT NOT NULL,
    job_id UUID NOT NULL,
    body BYTEA NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (agent_id, job_id)
);

CREATE TABLE model_usage (
    agent_id TEXT NOT NULL,
    day DATE NOT NULL,
    task TEXT NOT NULL,
    model TEXT NOT NULL,
    calls BIGINT DEFAULT 0 NOT NULL,
    failures BIGINT DEFAULT 0 NOT NULL,
    prompt_tokens BIGINT DEFAULT 0 NOT NULL,
    completion_tokens BIGINT DEFAULT 0 NOT NULL,
    cost double precision,
    unpriced BIGINT DEFAULT 0 NOT NULL,
    over_budget BIGINT DEFAULT 0 NOT NULL,
    fell_back BIGINT DEFAULT 0 NOT NULL,
    PRIMARY KEY (agent_id, day, task, model)
-- Every call writes twice.
) WITH (fillfactor = 50);

-- For Prometheus: not of an agent, so without row-level security.
CREATE TABLE model_total (
    task TEXT NOT NULL,
    model TEXT NOT NULL,
    calls BIGINT DEFAULT 0 NOT NULL,
    failures BIGINT DEFAULT 0 NOT NULL,
    prompt_tokens BIGINT DEFAULT 0 NOT NULL,
    completion_tokens BIGINT DEFAULT 0 NOT NULL,
    cost double precision,
    unpriced BIGINT DEFAULT 0 NOT NULL,
    over_budget BIGINT DEFAULT 0 NOT NULL,
    fell_back BIGINT DEFAULT 0 NOT NULL,
    PRIMARY KEY (task, model)
) WITH (fillfactor = 20);

-- Of the whole server, so without row-level security. Rows stay when their key is revoked.
CREATE TABLE api_key (
    name TEXT NOT NULL,
    agents TEXT NOT NULL,
    scope TEXT NOT NULL,
    hash TEXT NOT NULL,
    -- The key before the last rotation, and until when it is accepted.
    former_hash TEXT,
    former_until timestamptz,
    expires_at timestamptz,
    limits JSONB NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    last_used_at timestamptz,
    revoked_at timestamptz,
    PRIMARY KEY (name)
) WITH (fillfactor = 50);

CREATE TABLE key_usage (
    name TEXT NOT NULL,
    day DATE NOT NULL,
    messages BIGINT NOT NULL,
    PRIMARY KEY (name)
) WITH (fillfactor = 20);

-- Of the whole server: what it says of an agent outlives the agent.
CREATE TABLE audit (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    at timestamptz DEFAULT now() NOT NULL,
    key_name TEXT,
    action TEXT NOT NULL,
    agent_id TEXT,
    subject TEXT,
    request_id TEXT NOT NULL,
    status SMALLINT,
    PRIMARY KEY (id)
);
CREATE INDEX audit_age ON audit (at);

CREATE TABLE agent_setting (
    agent_id TEXT NOT NULL,
    parameters JSONB NOT NULL,
    changed_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (agent_id)
);

CREATE TABLE receipt (
    agent_id TEXT NOT NULL,
    id UUID NOT NULL,
    kind TEXT NOT NULL,
    session_id TEXT,
    body JSONB NOT NULL,
    at_seq BIGINT,
    seqs BIGINT[],
    given BIGINT[],
    nodes BIGINT[],
    created_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (agent_id, id)
);
-- Finds receipts that are old enough to delete.
CREATE INDEX receipt_age ON receipt (agent_id, created_at);
CREATE INDEX receipt_given ON receipt (agent_id, at_seq) WHERE at_seq IS NOT NULL;
CREATE INDEX receipt_last ON receipt (agent_id, session_id, created_at) WHERE kind = 'context';

-- The order of events: numbers of transactions, and an offset. A restore into another cluster sets
-- those numbers back; then the upgrade raises the offset (memci/storage/events.py).
CREATE SEQUENCE event_offset MINVALUE 0 START 0;
CREATE FUNCTION event_time(number xid8) RETURNS BIGINT LANGUAGE sql STABLE
    AS 'SELECT number::text::bigint + (SELECT last_value FROM event_offset)';
-- Events before it are complete: no transaction that could add one is still running.
CREATE FUNCTION event_horizon() RETURNS BIGINT LANGUAGE sql STABLE
    AS 'SELECT event_time(pg_snapshot_xmin(pg_current_snapshot()))';

CREATE TABLE event (
    agent_id TEXT NOT NULL,
    tx BIGINT DEFAULT event_time(pg_current_xact_id()) NOT NULL,
    place BIGINT GENERATED ALWAYS AS IDENTITY,
    type TEXT NOT NULL,
    data JSONB NOT NULL,
    at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (agent_id, tx, place)
);
CREATE INDEX event_order ON event (tx, place);

-- Of the whole server: only upkeep reads it, with the secrets.
CREATE TABLE webhook (
    id UUID NOT NULL,
    url TEXT NOT NULL,
    agents TEXT NOT NULL,
    types TEXT[] NOT NULL,
    secret TEXT NOT NULL,
    -- The secret before, which signs too until then.
    former_secret TEXT,
    former_until timestamptz,
    enabled BOOLEAN DEFAULT true NOT NULL,
    disabled_reason TEXT,
    -- Events up to here were delivered, or are none of its.
    tx BIGINT NOT NULL,
    place BIGINT NOT NULL,
    -- Failed attempts to deliver the next event.
    attempts INTEGER DEFAULT 0 NOT NULL,
    due_at timestamptz DEFAULT now() NOT NULL,
    lease UUID,
    leased_until timestamptz,
    -- The last attempts, the latest first.
    deliveries JSONB DEFAULT '[]' NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (id)
);

CREATE TABLE erased_message (
    agent_id TEXT NOT NULL,
    digest BYTEA NOT NULL,
    erased_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (agent_id, digest)
);

CREATE TABLE vector_model (
    only_one BOOLEAN DEFAULT true NOT NULL,
    model TEXT NOT NULL,
    dimension INTEGER NOT NULL,
    -- The number of changes: each change asks every agent once for new vectors.
    change INTEGER DEFAULT 1 NOT NULL,
    changed_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (only_one),
    CHECK (only_one)
);

CREATE TABLE document (
    agent_id TEXT NOT NULL,
    id BIGINT NOT NULL,
    name TEXT NOT NULL,
    digest TEXT NOT NULL,
    bytes BIGINT NOT NULL,
    state TEXT DEFAULT 'queued' NOT NULL,
    error TEXT,
    chunks INTEGER DEFAULT 0 NOT NULL,
    indexed_chunks INTEGER DEFAULT 0 NOT NULL,
    job_id UUID NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    sent_at timestamptz DEFAULT now() NOT NULL,
    indexed_at timestamptz,
    PRIMARY KEY (agent_id, id)
);
CREATE UNIQUE INDEX document_name ON document (agent_id, name);

CREATE TABLE document_body (
    agent_id TEXT NOT NULL,
    document_id BIGINT NOT NULL,
    body BYTEA NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (agent_id, document_id)
);

CREATE TABLE chunk (
    agent_id TEXT NOT NULL,
    id BIGINT NOT NULL,
    document_id BIGINT NOT NULL,
    place INTEGER NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    path TEXT NOT NULL,
    symbol TEXT,
    symbol_key TEXT,
    language TEXT NOT NULL,
    first_line INTEGER,
    last_line INTEGER,
    page INTEGER,
    indexed BOOLEAN DEFAULT false NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (agent_id, id)
);
CREATE UNIQUE INDEX chunk_document ON chunk (agent_id, document_id, place);
CREATE INDEX chunk_symbol ON chunk (agent_id, symbol_key) WHERE symbol_key IS NOT NULL;
CREATE INDEX chunk_waiting ON chunk (agent_id, document_id, id) WHERE NOT indexed;

CREATE TABLE chunk_vector (
    agent_id TEXT NOT NULL,
    chunk_id BIGINT NOT NULL,
    embedding HALFVEC NOT NULL,
    model TEXT NOT NULL,
    PRIMARY KEY (agent_id, chunk_id)
);

CREATE TABLE chunk_term (
    agent_id TEXT NOT NULL,
    term TEXT NOT NULL,
    chunk_id BIGINT NOT NULL,
    tf INTEGER NOT NULL,
    length INTEGER NOT NULL,
    PRIMARY KEY (agent_id, term, chunk_id) INCLUDE (tf, length)
);
CREATE INDEX chunk_term_chunk ON chunk_term (agent_id, chunk_id);

CREATE TABLE item (
    agent_id TEXT NOT NULL,
    namespace TEXT[] NOT NULL,
    key TEXT NOT NULL,
    value JSONB NOT NULL,
    text TEXT,
    created_at timestamptz DEFAULT now() NOT NULL,
    updated_at timestamptz DEFAULT now() NOT NULL,
    ttl_minutes double precision,
    expires_at timestamptz,
    terms JSONB,
    length INTEGER,
    embedding HALFVEC,
    model TEXT,
    PRIMARY KEY (agent_id, namespace, key)
);
CREATE INDEX item_term ON item (agent_id, expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX item_unindexed ON item (agent_id, updated_at) WHERE text IS NOT NULL AND terms IS NULL;

CREATE TABLE checkpoint (
    agent_id TEXT NOT NULL,
    thread TEXT NOT NULL,
    namespace TEXT NOT NULL,
    id TEXT NOT NULL,
    parent TEXT,
    kind TEXT NOT NULL,
    body BYTEA NOT NULL,
    versions JSONB NOT NULL,
    metadata JSONB NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (agent_id, thread, namespace, id)
);

CREATE TABLE checkpoint_value (
    agent_id TEXT NOT NULL,
    thread TEXT NOT NULL,
    namespace TEXT NOT NULL,
    channel TEXT NOT NULL,
    version TEXT NOT NULL,
    kind TEXT NOT NULL,
    body BYTEA NOT NULL,
    PRIMARY KEY (agent_id, thread, namespace, channel, version)
);

CREATE TABLE checkpoint_write (
    agent_id TEXT NOT NULL,
    thread TEXT NOT NULL,
    namespace TEXT NOT NULL,
    checkpoint_id TEXT NOT NULL,
    task_id TEXT NOT NULL,
    place INTEGER NOT NULL,
    channel TEXT NOT NULL,
    kind TEXT NOT NULL,
    body BYTEA NOT NULL,
    path TEXT DEFAULT '' NOT NULL,
    PRIMARY KEY (agent_id, thread, namespace, checkpoint_id, task_id, place)
);

CREATE TABLE message (
    agent_id TEXT NOT NULL,
    seq BIGINT NOT NULL,
    id TEXT NOT NULL,
    role TEXT NOT NULL,
    content TEXT,
    name TEXT,
    tool_calls JSONB,
    tool_call_id TEXT,
    metadata JSONB,
    session_id TEXT,
    user_id TEXT,
    said_at timestamptz NOT NULL,
    received_at timestamptz DEFAULT now() NOT NULL,
    remember TEXT NOT NULL,
    memory_state TEXT DEFAULT 'none' NOT NULL,
    memory_reason TEXT,
    indexed BOOLEAN DEFAULT false NOT NULL,
    position BIGINT,
    said_offset SMALLINT,
    withheld INTEGER[],
    PRIMARY KEY (agent_id, seq)
);
CREATE UNIQUE INDEX message_id ON message (agent_id, id);
CREATE UNIQUE INDEX message_position ON message (agent_id, position) INCLUDE (seq)
    WHERE position IS NOT NULL;
CREATE INDEX message_said ON message (agent_id, said_at, seq) WHERE indexed;
CREATE INDEX message_withheld ON message (agent_id, seq) WHERE withheld IS NOT NULL;
CREATE INDEX message_session ON message (agent_id, session_id, seq);
CREATE INDEX message_tail ON message (agent_id, seq) WHERE NOT indexed;

CREATE TABLE message_vector (
    agent_id TEXT NOT NULL,
    seq BIGINT NOT NULL,
    embedding HALFVEC NOT NULL,
    model TEXT NOT NULL,
    PRIMARY KEY (agent_id, seq)
);

CREATE TABLE message_tokens (
    agent_id TEXT NOT NULL,
    seq BIGINT NOT NULL,
    bits BYTEA NOT NULL,
    model TEXT NOT NULL,
    PRIMARY KEY (agent_id, seq)
);

CREATE TABLE message_passage (
    agent_id TEXT NOT NULL,
    seq BIGINT NOT NULL,
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL,
    embedding HALFVEC NOT NULL,
    model TEXT NOT NULL,
    PRIMARY KEY (agent_id, seq, start)
);

CREATE TABLE message_term (
    agent_id TEXT NOT NULL,
    term TEXT NOT NULL,
    seq BIGINT NOT NULL,
    tf INTEGER NOT NULL,
    length INTEGER NOT NULL,
    position BIGINT NOT NULL,
    PRIMARY KEY (agent_id, term, seq) INCLUDE (tf, length, position)
);

CREATE TABLE summary (
    agent_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    users TEXT[] DEFAULT '{}' NOT NULL,
    from_seq BIGINT DEFAULT 0 NOT NULL,
    through_seq BIGINT DEFAULT 0 NOT NULL,
    text TEXT DEFAULT '' NOT NULL,
    tokens INTEGER DEFAULT 0 NOT NULL,
    model TEXT DEFAULT '' NOT NULL,
    final BOOLEAN DEFAULT false NOT NULL,
    counted_seq BIGINT DEFAULT 0 NOT NULL,
    counted_tokens BIGINT DEFAULT 0 NOT NULL,
    made_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (agent_id, session_id, user_id)
) WITH (fillfactor = 70);
-- Sessions that may end.
CREATE INDEX summary_open ON summary (agent_id, session_id)
    WHERE NOT final AND user_id = '' AND session_id <> '';

CREATE TABLE plan (
    agent_id TEXT NOT NULL,
    made_seq BIGINT NOT NULL,
    session_id TEXT,
    user_id TEXT,
    created_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (agent_id, made_seq)
);
CREATE INDEX plan_session ON plan (agent_id, session_id, made_seq);

CREATE TABLE plan_step (
    agent_id TEXT NOT NULL,
    made_seq BIGINT NOT NULL,
    position INTEGER NOT NULL,
    text TEXT NOT NULL,
    said_seq BIGINT NOT NULL,
    state TEXT NOT NULL,
    first_seq BIGINT,
    last_seq BIGINT,
    PRIMARY KEY (agent_id, made_seq, position)
);

CREATE TABLE tracking (
    agent_id TEXT NOT NULL,
    seq BIGINT NOT NULL,
    PRIMARY KEY (agent_id)
) WITH (fillfactor = 50);

CREATE TABLE node (
    agent_id TEXT NOT NULL,
    id BIGINT NOT NULL,
    slot BIGINT NOT NULL,
    kind TEXT NOT NULL,
    type TEXT NOT NULL,
    content TEXT NOT NULL,
    original_length INTEGER NOT NULL,
    phrase TEXT NOT NULL,
    keywords TEXT[] NOT NULL,
    language TEXT NOT NULL,
    entity_key TEXT,
    worth double precision DEFAULT 0 NOT NULL,
    message_seqs BIGINT[] NOT NULL,
    session_id TEXT,
    user_id TEXT,
    said_at timestamptz,
    tier TEXT DEFAULT 'long' NOT NULL,
    expires_at timestamptz,
    promoted_at timestamptz,
    compared BOOLEAN DEFAULT false NOT NULL,
    superseded_by BIGINT,
    superseded_at timestamptz,
    scan_count BIGINT DEFAULT 0 NOT NULL,
    last_pass BIGINT DEFAULT 0 NOT NULL,
    attempts INTEGER DEFAULT 0 NOT NULL,
    retry_at timestamptz,
    created_at timestamptz DEFAULT now() NOT NULL,
    said_offset SMALLINT,
    pinned BOOLEAN DEFAULT false NOT NULL,
    PRIMARY KEY (agent_id, id)
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX node_entity ON node (agent_id, entity_key) WHERE entity_key IS NOT NULL;
-- Finds the last memory of a session: the one with the latest last message (M7).
CREATE INDEX node_session ON node
    (agent_id, session_id, (message_seqs[cardinality(message_seqs)]), id)
    WHERE kind = 'memory';
CREATE INDEX node_short ON node (agent_id, expires_at) WHERE tier = 'short';
CREATE UNIQUE INDEX node_slot ON node (agent_id, slot);

CREATE TABLE node_vector (
    agent_id TEXT NOT NULL,
    node_id BIGINT NOT NULL,
    embedding HALFVEC NOT NULL,
    model TEXT NOT NULL,
    PRIMARY KEY (agent_id, node_id)
);

CREATE TABLE node_term (
    agent_id TEXT NOT NULL,
    term TEXT NOT NULL,
    node_id BIGINT NOT NULL,
    tf INTEGER NOT NULL,
    length INTEGER NOT NULL,
    PRIMARY KEY (agent_id, term, node_id) INCLUDE (tf, length)
);
CREATE INDEX node_term_node ON node_term (agent_id, node_id);

CREATE TABLE link (
    agent_id TEXT NOT NULL,
    source BIGINT NOT NULL,
    target BIGINT NOT NULL,
    relation TEXT NOT NULL,
    strength double precision NOT NULL,
    hint TEXT NOT NULL,
    PRIMARY KEY (agent_id, source, target)
-- Room for the new versions that every pass writes.
) WITH (fillfactor = 50);
CREATE INDEX link_target ON link (agent_id, target);

CREATE TABLE focus (
    agent_id TEXT NOT NULL,
    node_id BIGINT NOT NULL,
    mentioned BIGINT NOT NULL,
    PRIMARY KEY (agent_id, node_id)
);

CREATE TABLE trail (
    agent_id TEXT NOT NULL,
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    node_id BIGINT NOT NULL,
    event TEXT NOT NULL,
    pass_number BIGINT NOT NULL,
    details JSONB NOT NULL,
    at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (agent_id, id)
);
CREATE INDEX trail_node ON trail (agent_id, node_id);

CREATE TABLE pass_log (
    agent_id TEXT NOT NULL,
    number BIGINT NOT NULL,
    message_seq BIGINT NOT NULL,
    started_at timestamptz DEFAULT now() NOT NULL,
    finished_at timestamptz,
    scanned BIGINT DEFAULT 0 NOT NULL,
    compressed BIGINT DEFAULT 0 NOT NULL,
    forgotten BIGINT DEFAULT 0 NOT NULL,
    broken BIGINT DEFAULT 0 NOT NULL,
    given_up BIGINT DEFAULT 0 NOT NULL,
    models JSONB,
    PRIMARY KEY (agent_id, number)
);

CREATE TABLE pass_snapshot (
    agent_id TEXT NOT NULL,
    number BIGINT NOT NULL,
    taken_at timestamptz DEFAULT now() NOT NULL,
    node_ids BIGINT[] NOT NULL,
    lengths INTEGER[] NOT NULL,
    original_lengths INTEGER[] NOT NULL,
    importances REAL[] NOT NULL,
    entities BIGINT[] NOT NULL,
    focus BIGINT[] NOT NULL,
    sources BIGINT[] NOT NULL,
    targets BIGINT[] NOT NULL,
    strengths REAL[] NOT NULL,
    PRIMARY KEY (agent_id, number)
-- Short arrays are compressed as well, and stored outside of the row: more rows fit a page, and
-- computing their size reads none.
) WITH (toast_tuple_target = 128);

CREATE TABLE ended_fact (
    agent_id TEXT NOT NULL,
    node_id BIGINT NOT NULL,
    replaced_by BIGINT NOT NULL,
    told_by BIGINT NOT NULL,
    seqs BIGINT[] NOT NULL,
    parts TEXT[] NOT NULL,
    until timestamptz NOT NULL,
    PRIMARY KEY (agent_id, node_id, replaced_by, told_by)
);

CREATE TABLE node_version (
    agent_id TEXT NOT NULL,
    node_id BIGINT NOT NULL,
    replaced_by BIGINT NOT NULL,
    reason TEXT NOT NULL,
    content TEXT NOT NULL,
    phrase TEXT NOT NULL,
    keywords TEXT[] NOT NULL,
    language TEXT NOT NULL,
    type TEXT NOT NULL,
    message_seqs BIGINT[] NOT NULL,
    session_id TEXT,
    user_id TEXT,
    said_at timestamptz,
    until timestamptz,
    replaced_at timestamptz DEFAULT now() NOT NULL,
    said_offset SMALLINT,
    PRIMARY KEY (agent_id, node_id, replaced_by)
);
CREATE INDEX node_version_successor ON node_version (agent_id, replaced_by);
CREATE INDEX node_version_superseded ON node_version (agent_id) WHERE reason = 'superseded';

CREATE TABLE session_end (
    agent_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    seq BIGINT NOT NULL,
    ended_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (agent_id, session_id)
);

CREATE TABLE replay_log (
    agent_id TEXT NOT NULL,
    place BIGINT GENERATED ALWAYS AS IDENTITY,
    event TEXT NOT NULL,
    job_id UUID,
    seqs BIGINT[] DEFAULT '{}' NOT NULL,
    pass_number BIGINT DEFAULT 0 NOT NULL,
    scanned BIGINT DEFAULT 0 NOT NULL,
    ended BOOLEAN DEFAULT false NOT NULL,
    details JSONB DEFAULT '{}' NOT NULL,
    at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (agent_id, place)
);

CREATE TABLE edition (
    agent_id TEXT NOT NULL,
    number BIGINT NOT NULL,
    state TEXT NOT NULL,
    up_to_seq BIGINT,
    begun_at BIGINT NOT NULL,
    cut_at BIGINT,
    place BIGINT DEFAULT 0 NOT NULL,
    scanned BIGINT DEFAULT 0 NOT NULL,
    settled BOOLEAN DEFAULT true NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    finished_at timestamptz,
    PRIMARY KEY (agent_id, number)
);
CREATE UNIQUE INDEX edition_open ON edition (agent_id)
    WHERE state IN ('building', 'ready', 'switching');

CREATE TABLE page_tree (
    agent_id TEXT NOT NULL,
    version BIGINT DEFAULT 0 NOT NULL,
    segments JSONB DEFAULT '[]' NOT NULL,
    settled_seq BIGINT DEFAULT 0 NOT NULL,
    interactions BIGINT DEFAULT 0 NOT NULL,
    next_place BIGINT DEFAULT 1 NOT NULL,
    archive TEXT,
    notice TEXT[] DEFAULT '{}' NOT NULL,
    last_step BIGINT DEFAULT 0 NOT NULL,
    PRIMARY KEY (agent_id)
) WITH (fillfactor = 50);

CREATE TABLE page (
    agent_id TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    segment TEXT NOT NULL,
    parent TEXT,
    place BIGINT NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    expanded BOOLEAN NOT NULL,
    cold BOOLEAN DEFAULT false NOT NULL,
    managed BOOLEAN DEFAULT false NOT NULL,
    named BOOLEAN DEFAULT false NOT NULL,
    summarized BOOLEAN DEFAULT false NOT NULL,
    pinned_by TEXT,
    first_seq BIGINT,
    last_seq BIGINT,
    session_id TEXT,
    number BIGINT,
    answered BOOLEAN,
    entries TEXT[] DEFAULT '{}' NOT NULL,
    text_version BIGINT,
    recalls INTEGER DEFAULT 0 NOT NULL,
    recalled_at BIGINT DEFAULT 0 NOT NULL,
    entered_at BIGINT DEFAULT 0 NOT NULL,
    archived_at BIGINT DEFAULT 0 NOT NULL,
    opened_at BIGINT DEFAULT 0 NOT NULL,
    chapter TEXT DEFAULT '' NOT NULL,
    user_id TEXT,
    content_tokens INTEGER DEFAULT 0 NOT NULL,
    PRIMARY KEY (agent_id, id)
) WITH (fillfactor = 70);
CREATE INDEX page_inside ON page (agent_id, parent) WHERE cold AND parent IS NOT NULL;
-- The pages in a folder, and of the conversation those of a session.
CREATE INDEX page_living ON page (agent_id, parent, session_id) WHERE NOT cold;
-- Removed pages, in order of removal.
CREATE INDEX page_removed ON page (agent_id, place) WHERE cold AND parent IS NULL;
-- Finds the page that a session's next message continues.
CREATE INDEX page_span ON page (agent_id, session_id, last_seq) WHERE first_seq IS NOT NULL;
-- Pages that the summarizer has to name, the newest first.
CREATE INDEX page_unnamed ON page (agent_id, number) WHERE number > 0 AND NOT (named AND summarized);
-- Pages with written words, removed or not: a search reads them.
CREATE INDEX page_written ON page (agent_id) WHERE first_seq IS NULL;

CREATE TABLE page_text (
    agent_id TEXT NOT NULL,
    page_id TEXT NOT NULL,
    version BIGINT NOT NULL,
    text TEXT NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (agent_id, page_id, version)
);

CREATE TABLE pin (
    agent_id TEXT NOT NULL,
    number BIGINT NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    message_seq BIGINT,
    span_start INTEGER,
    span_end INTEGER,
    pinned_by TEXT NOT NULL,
    user_id TEXT,
    created_at timestamptz DEFAULT now() NOT NULL,
    unpinned_at timestamptz,
    PRIMARY KEY (agent_id, number)
);

CREATE TABLE page_step (
    agent_id TEXT NOT NULL,
    number BIGINT NOT NULL,
    operations TEXT[] NOT NULL,
    changes JSONB NOT NULL,
    undone BOOLEAN DEFAULT false NOT NULL,
    user_id TEXT,
    created_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (agent_id, number)
);
CREATE INDEX page_step_whose ON page_step (agent_id, user_id, number);

-- Vectors are always read whole and in bulk. So they stay in the row, uncompressed.
ALTER TABLE message_vector ALTER COLUMN embedding SET STORAGE PLAIN;
ALTER TABLE message_passage ALTER COLUMN embedding SET STORAGE PLAIN;
ALTER TABLE node_vector ALTER COLUMN embedding SET STORAGE PLAIN;
-- Bits of tokens cannot be compressed.
ALTER TABLE message_tokens ALTER COLUMN bits SET STORAGE EXTERNAL;

-- Nobody can insert an erased message again (M25).
CREATE FUNCTION refuse_erased_message() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM added CROSS JOIN LATERAL (
           SELECT FROM erased_message AS erased
            WHERE erased.agent_id = added.agent_id
              AND erased.digest = sha256(convert_to(added.id, 'UTF8')) OFFSET 0) AS hit) THEN
        RAISE restrict_violation USING MESSAGE = 'this message was erased for good';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER message_erased AFTER INSERT ON message
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION refuse_erased_message();

-- Events are added in the transaction of what they tell. Jobs end in transactions of no agent, so
-- these triggers may add events of any agent. The search path is fixed: otherwise names such as that
-- of a type could lead to what the caller has made in pg_temp, and run it as the owner.
CREATE FUNCTION add_event() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    kind TEXT;
    data JSONB;
BEGIN
    IF TG_TABLE_NAME = 'trail' THEN
        kind := 'memory.' || NEW.event;
        data := jsonb_build_object('node_id', NEW.node_id) || NEW.details;
    ELSIF TG_TABLE_NAME = 'pass_log' THEN
        kind := 'pass.finished';
        data := jsonb_build_object('number', NEW.number, 'scanned', NEW.scanned,
                                   'compressed', NEW.compressed, 'forgotten', NEW.forgotten);
    ELSE
        kind := 'job.dead';
        data := jsonb_build_object('job_id', NEW.id, 'kind', NEW.kind, 'attempts', NEW.attempts);
    END IF;
    -- Without the function event_time, which takes as long as the rest.
    INSERT INTO public.event (agent_id, tx, type, data) VALUES (
        NEW.agent_id,
        pg_current_xact_id()::text::bigint + (SELECT last_value FROM public.event_offset),
        kind, data);
    RETURN NULL;
END $$;
-- The creation of an entity is told to nobody.
CREATE TRIGGER trail_event AFTER INSERT ON trail FOR EACH ROW
    WHEN (NEW.event IN ('created', 'corrected', 'superseded', 'merged', 'restored', 'forgotten',
                        'deleted', 'erased') AND NOT NEW.details ? 'kind')
    EXECUTE FUNCTION add_event();
CREATE TRIGGER pass_event AFTER UPDATE OF finished_at ON pass_log FOR EACH ROW
    WHEN (OLD.finished_at IS NULL AND NEW.finished_at IS NOT NULL) EXECUTE FUNCTION add_event();
CREATE TRIGGER job_event AFTER UPDATE OF state ON job FOR EACH ROW
    WHEN (OLD.state <> 'dead' AND NEW.state = 'dead') EXECUTE FUNCTION add_event();
CREATE POLICY of_owner ON event TO memci_owner USING (true) WITH CHECK (true);
-- Webhooks and streams read the events of all agents.
CREATE POLICY all_agents ON event TO memci_upkeep USING (true);
-- Counts a request of a key, or refuses it. Each query in it sees what was committed meanwhile.
CREATE FUNCTION charge_key(
    key TEXT, agent TEXT, patterns TEXT[], new_messages BIGINT, new_bytes BIGINT,
    most_messages BIGINT, most_bytes BIGINT, most_agents BIGINT
) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
    today DATE := (clock_timestamp() AT TIME ZONE 'UTC')::date;
    used BIGINT;
BEGIN
    INSERT INTO key_usage AS old (name, day, messages) VALUES (key, today, new_messages)
    ON CONFLICT (name) DO UPDATE SET day = excluded.day, messages = excluded.messages
        + CASE WHEN old.day = excluded.day THEN old.messages ELSE 0 END
    RETURNING messages - new_messages INTO used;
    IF most_messages > 0 AND new_messages > 0 AND used + new_messages > most_messages THEN
        RAISE SQLSTATE '23Q01' USING MESSAGE = format('messages_per_day %s %s', most_messages, used);
    END IF;
    IF most_bytes > 0 AND new_bytes > 0 THEN
        SELECT coalesce(sum(stored_bytes), 0) INTO used FROM lane WHERE agent_id LIKE ANY (patterns);
        IF used + new_bytes > most_bytes THEN
            RAISE SQLSTATE '23Q01' USING MESSAGE = format('stored_bytes %s %s', most_bytes, used);
        END IF;
    END IF;
    IF most_agents > 0 AND NOT starts_with(agent, 'collection/') AND NOT EXISTS (
           SELECT FROM lane WHERE agent_id = agent AND written_at IS NOT NULL) THEN
        SELECT count(*) INTO used FROM lane
         WHERE agent_id LIKE ANY (patterns) AND NOT starts_with(agent_id, 'collection/')
           AND written_at IS NOT NULL;
        IF used >= most_agents THEN
            RAISE SQLSTATE '23Q01' USING MESSAGE = format('agents %s %s', most_agents, used);
        END IF;
    END IF;
END $$;

-- The role of upkeep sees the metadata of jobs, but no content (M21).
GRANT SELECT, DELETE ON event TO memci_upkeep;
GRANT SELECT, INSERT, UPDATE, DELETE ON webhook TO memci_upkeep;
GRANT SELECT ON SEQUENCE event_offset TO memci_app, memci_upkeep;
GRANT SELECT, UPDATE ON lane TO memci_upkeep;
GRANT SELECT (ctid, agent_id, id, ordinal, kind, source, state, attempts, started, not_before,
              created_at, started_at, finished_at) ON job TO memci_upkeep;
GRANT INSERT (agent_id, id, kind, payload, source) ON job TO memci_upkeep;
GRANT DELETE ON job TO memci_upkeep;
GRANT SELECT ON alembic_version, model_total, vector_model TO memci_upkeep;
GRANT SELECT, DELETE ON audit TO memci_upkeep;
GRANT SELECT, INSERT, UPDATE (status, subject) ON audit TO memci_app;
GRANT SELECT ON alembic_version TO memci_app;
GRANT SELECT, INSERT, UPDATE ON api_key, key_usage, model_total, vector_model TO memci_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON lane, job TO memci_app;
