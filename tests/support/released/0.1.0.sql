-- A store as 0.1.0 leaves it: its schema, and rows that it wrote. {money} is the engine's type for amounts. The node that wrote them
-- has died: its leases are left. The pepper is "pepper of the schema of 0.1.0"; what 0.1.0 answered about these rows is in 0.1.0.json.
CREATE TABLE schema_version (version BIGINT NOT NULL);
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE revision (one BIGINT PRIMARY KEY, rev BIGINT NOT NULL);
CREATE TABLE keys (
      id TEXT PRIMARY KEY, name TEXT NOT NULL, account TEXT NOT NULL, access_policy TEXT, dlp_policy TEXT,
      models TEXT, spend_amount {money}, spend_period TEXT, requests_per_minute BIGINT, tokens_per_minute BIGINT,
      created BIGINT NOT NULL, expires_at BIGINT, revoked_at BIGINT, rev BIGINT NOT NULL);
CREATE UNIQUE INDEX keys_by_name ON keys (name) WHERE revoked_at IS NULL;
CREATE INDEX keys_by_rev ON keys (rev);
CREATE TABLE secrets (hash TEXT PRIMARY KEY, key_id TEXT NOT NULL REFERENCES keys (id), expires_at BIGINT);
CREATE INDEX secrets_by_key ON secrets (key_id);
CREATE TABLE accounts (name TEXT PRIMARY KEY, granted {money}, added {money} NOT NULL, rev BIGINT NOT NULL);
CREATE TABLE credit_additions (
      account TEXT NOT NULL, amount {money} NOT NULL, created BIGINT NOT NULL, note TEXT);
CREATE TABLE budgets (
      id TEXT PRIMARY KEY, scope TEXT NOT NULL, owner TEXT NOT NULL, starts BIGINT NOT NULL, ends BIGINT,
      spent {money} NOT NULL);
CREATE INDEX budgets_by_owner ON budgets (owner, scope);
CREATE TABLE nodes (id TEXT PRIMARY KEY, seq BIGINT NOT NULL, beat BIGINT NOT NULL);
CREATE TABLE leases (
      budget TEXT NOT NULL, node TEXT NOT NULL, amount {money} NOT NULL, PRIMARY KEY (budget, node));
CREATE INDEX leases_by_node ON leases (node);
CREATE TABLE wants (budget TEXT NOT NULL, node TEXT NOT NULL, PRIMARY KEY (budget, node));
CREATE TABLE running (id TEXT PRIMARY KEY, node TEXT NOT NULL, data TEXT NOT NULL);
CREATE INDEX running_by_node ON running (node);
CREATE TABLE generations (
      id TEXT PRIMARY KEY, created BIGINT NOT NULL, key_id TEXT NOT NULL, key_name TEXT NOT NULL,
      account TEXT NOT NULL, format TEXT NOT NULL, requested_model TEXT NOT NULL, model TEXT NOT NULL, provider TEXT,
      stream BIGINT NOT NULL, status TEXT NOT NULL, error_code TEXT, measured BIGINT NOT NULL,
      input BIGINT, cached BIGINT, cache_write BIGINT, cache_write_1h BIGINT,
      audio_input BIGINT, image_input BIGINT, video_input BIGINT,
      output BIGINT, reasoning BIGINT, audio_output BIGINT, image_output BIGINT,
      searches BIGINT NOT NULL, cost BIGINT NOT NULL, ttft_ms BIGINT, latency_ms BIGINT NOT NULL,
      client_gone BIGINT NOT NULL, dlp_mode TEXT, dlp_findings BIGINT);
CREATE INDEX generations_by_created ON generations (created, id);
CREATE INDEX generations_by_key ON generations (key_id, created);
CREATE TABLE usage_days (
      day BIGINT NOT NULL, key_id TEXT NOT NULL, key_name TEXT NOT NULL, account TEXT NOT NULL, model TEXT NOT NULL,
      generations BIGINT NOT NULL, failed BIGINT NOT NULL, input BIGINT NOT NULL, cached BIGINT NOT NULL,
      cache_write BIGINT NOT NULL, output BIGINT NOT NULL, reasoning BIGINT NOT NULL, searches BIGINT NOT NULL,
      cost {money} NOT NULL, PRIMARY KEY (day, key_id, key_name, account, model));
INSERT INTO revision (one, rev) VALUES (1, 7);
INSERT INTO keys (id, name, account, access_policy, dlp_policy, models, spend_amount, spend_period, requests_per_minute, tokens_per_minute, created, expires_at, revoked_at, rev) VALUES ('key_ci', 'ci', 'acme', NULL, NULL, '["mistral/*"]', 20500000000000, 'week', 60, 100000, 1759838400000, 1893456000000, NULL, 4);
INSERT INTO keys (id, name, account, access_policy, dlp_policy, models, spend_amount, spend_period, requests_per_minute, tokens_per_minute, created, expires_at, revoked_at, rev) VALUES ('key_gone', 'gone', 'acme', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1759838400000, NULL, 1759838400000, 5);
INSERT INTO secrets (hash, key_id, expires_at) VALUES ('5aGQ838QU90R2rngqB57A8HYNv26y7f-n69BzJC7LZ4', 'key_ci', 1759842000000);
INSERT INTO secrets (hash, key_id, expires_at) VALUES ('21G_hpK4oCNzkHD4y81WYxlt8YoWeq6x6zY4NNBmdaY', 'key_gone', NULL);
INSERT INTO secrets (hash, key_id, expires_at) VALUES ('pF2uKljsDS42pVXW4pkJW65swHHRTM0S2-VYM3snlX0', 'key_ci', NULL);
INSERT INTO accounts (name, granted, added, rev) VALUES ('acme', 100000000000000, 12499999999999, 7);
INSERT INTO accounts (name, granted, added, rev) VALUES ('default', NULL, 0, 1);
INSERT INTO credit_additions (account, amount, created, note) VALUES ('acme', 12500000000000, 1759838400000, 'thanks');
INSERT INTO credit_additions (account, amount, created, note) VALUES ('acme', -1, 1759838400000, NULL);
INSERT INTO budgets (id, scope, owner, starts, ends, spent) VALUES ('a:acme', 'account', 'acme', 0, NULL, 29875000000);
INSERT INTO budgets (id, scope, owner, starts, ends, spent) VALUES ('k:key_config_dev:month:1759276800000', 'key', 'key_config_dev', 1759276800000, 1761955200000, 3750000000);
INSERT INTO budgets (id, scope, owner, starts, ends, spent) VALUES ('r:key_ci', 'rate', 'key_ci', 1768482000000, NULL, 0);
INSERT INTO budgets (id, scope, owner, starts, ends, spent) VALUES ('t:key_ci', 'rate', 'key_ci', 1768482000000, NULL, 0);
INSERT INTO budgets (id, scope, owner, starts, ends, spent) VALUES ('k:key_config_dev:month:1767225600000', 'key', 'key_config_dev', 1767225600000, 1769904000000, 2154000000);
INSERT INTO budgets (id, scope, owner, starts, ends, spent) VALUES ('k:key_ci:week:1768176000000', 'key', 'key_ci', 1768176000000, 1768780800000, 23866000000);
INSERT INTO nodes (id, seq, beat) VALUES ('node_dead', 8, 1);
INSERT INTO leases (budget, node, amount) VALUES ('k:key_config_dev:month:1759276800000', 'node_dead', 49996250000000);
INSERT INTO leases (budget, node, amount) VALUES ('a:acme', 'node_dead', 112470124999999);
INSERT INTO leases (budget, node, amount) VALUES ('r:key_ci', 'node_dead', 60);
INSERT INTO leases (budget, node, amount) VALUES ('t:key_ci', 'node_dead', 100000);
INSERT INTO leases (budget, node, amount) VALUES ('k:key_config_dev:month:1767225600000', 'node_dead', 49997846000000);
INSERT INTO leases (budget, node, amount) VALUES ('k:key_ci:week:1768176000000', 'node_dead', 20476134000000);
INSERT INTO generations (id, created, key_id, key_name, account, format, requested_model, model, provider, stream, status, error_code, measured, input, cached, cache_write, cache_write_1h, audio_input, image_input, video_input, output, reasoning, audio_output, image_output, searches, cost, ttft_ms, latency_ms, client_gone, dlp_mode, dlp_findings) VALUES ('gen_004', 1768478400000, 'key_config_dev', 'dev', 'acme', 'chat_completions', 'm/né''"x', 'm/b', 'p', 1, 'completed', NULL, 1, 333, 0, 30, 10, 0, 0, 0, 77, 20, 0, 0, 0, 2154000000, 120, 900, 0, 'mask', 2);
INSERT INTO generations (id, created, key_id, key_name, account, format, requested_model, model, provider, stream, status, error_code, measured, input, cached, cache_write, cache_write_1h, audio_input, image_input, video_input, output, reasoning, audio_output, image_output, searches, cost, ttft_ms, latency_ms, client_gone, dlp_mode, dlp_findings) VALUES ('gen_005', 1768478400000, 'key_ci', 'ci', 'acme', 'responses', 'm/né''"x', 'm/a', 'p', 0, 'incomplete', NULL, 1, 100, 0, 0, 0, 0, 0, 0, 900, 0, 0, 0, 2, 23800000000, 120, 900, 0, NULL, NULL);
INSERT INTO generations (id, created, key_id, key_name, account, format, requested_model, model, provider, stream, status, error_code, measured, input, cached, cache_write, cache_write_1h, audio_input, image_input, video_input, output, reasoning, audio_output, image_output, searches, cost, ttft_ms, latency_ms, client_gone, dlp_mode, dlp_findings) VALUES ('gen_006', 1768478400000, 'key_config_dev', 'dev', 'acme', 'messages', 'm/né''"x', 'm/b', NULL, 1, 'interrupted', NULL, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, 900, 0, NULL, NULL);
INSERT INTO generations (id, created, key_id, key_name, account, format, requested_model, model, provider, stream, status, error_code, measured, input, cached, cache_write, cache_write_1h, audio_input, image_input, video_input, output, reasoning, audio_output, image_output, searches, cost, ttft_ms, latency_ms, client_gone, dlp_mode, dlp_findings) VALUES ('gen_007', 1768482000000, 'key_ci', 'ci', 'acme', 'chat_completions', 'm/né''"x', 'm/a', 'p', 0, 'completed', NULL, 0, 7, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 66000000, 120, 900, 1, NULL, NULL);
INSERT INTO usage_days (day, key_id, key_name, account, model, generations, failed, input, cached, cache_write, output, reasoning, searches, cost) VALUES (1759795200000, 'key_ci', 'ci', 'acme', 'm/b', 1, 0, 10, 4, 0, 5, 0, 0, 105000000);
INSERT INTO usage_days (day, key_id, key_name, account, model, generations, failed, input, cached, cache_write, output, reasoning, searches, cost) VALUES (1759795200000, 'key_config_dev', 'dev', 'acme', 'm/a', 2, 1, 1000, 0, 0, 50, 0, 0, 3750000000);
INSERT INTO schema_version (version) VALUES (1);
