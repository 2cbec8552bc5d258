/**
 * All that calls and administrators need seldom, and that is imported when they first do.
 *
 * An import that finds no file to open fails, and fails for ever after (Deno 2.9.6): one call beside a crowd of connections would end
 * screening, or resumption, until the next start. Where a process may open few files, they are imported before.
 */

/** Rejects where one cannot be had. */
export async function importSeldom(): Promise<void> {
  await Promise.all([
    import("./accounts/live.ts"),
    import("./accounts/live_sharing.ts"),
    import("./accounts/member_timeline.ts"),
    import("./accounts/timeline.ts"),
    import("./alerts/mail.ts"),
    import("./assembly/alert_rules.ts"),
    import("./assembly/payload_log.ts"),
    import("./commands/catalog_of.ts"),
    import("./config/shown.ts"),
    import("./console/attention.ts"),
    import("./console/oidc.ts"),
    import("./console/overview.ts"),
    import("./console/page_document.ts"),
    import("./discovery/effective_catalog.ts"),
    import("./dlp/entities.ts"),
    import("./formats/converse/mod.ts"),
    import("./formats/gemini/mod.ts"),
    import("./formats/messages/caller.ts"),
    import("./formats/messages/provider.ts"),
    import("./formats/responses/caller.ts"),
    import("./formats/responses/compaction.ts"),
    import("./formats/responses/provider.ts"),
    import("./http/compact.ts"),
    import("./http/count_tokens.ts"),
    import("./http/estimate.ts"),
    import("./http/responses_socket.ts"),
    import("./http/resumable.ts"),
    import("./http/resume_endpoint.ts"),
    import("./manual/documents.ts"),
    import("./manual/openapi/document.ts"),
    import("./models/auto.ts"),
    import("./models/discovered/merge.ts"),
    import("./models/facts/facts.ts"),
    import("./pipeline/compact.ts"),
    import("./pipeline/dry_scan.ts"),
    import("./pipeline/payloads.ts"),
    import("./pipeline/repair/repair_calls.ts"),
    import("./pipeline/screen.ts"),
    import("./pipeline/try_provider.ts"),
    import("./providers/credentials/aws/mod.ts"),
    import("./providers/credentials/azure/mod.ts"),
    import("./providers/credentials/google/mod.ts"),
    import("./providers/demo_model.ts"),
    import("./resume/mod.ts"),
    import("./store/budget_opening.ts"),
    import("./store/search.ts"),
    import("./websearch/clean.ts"),
    import("aws4fetch"),
    import("jose"),
  ]);
}
