# Contains only the gateway and its packages. It needs a configuration, since demo mode listens only on loopback inside the container:
#   docker build -t sluice . && docker run -p 8787:8787 -v ./sluice.jsonc:/app/sluice.jsonc:ro -v sluice:/app/data sluice
# A reproducible build specifies digests, as the release does: --build-arg BASE=denoland/deno:distroless-2.9.6@sha256:…
ARG BUILDER=denoland/deno:2.9.6
ARG BASE=denoland/deno:distroless-2.9.6

FROM ${BUILDER} AS build
WORKDIR /app
ENV DENO_DIR=/deno-dir
COPY deno.json ./
COPY .deno .deno
COPY src src
RUN deno cache --frozen --lock=.deno/runtime.lock src/main.ts src/dlp/re2_worker.ts src/documents/document_worker.ts src/formats/tokens/worker.ts src/store/sqlite/checkpoint_worker.ts src/store/sqlite/worker.ts
COPY .deploy/unused.ts .deploy/fill_caches.ts .deploy/
RUN deno run --no-lock --allow-read=/app,/deno-dir --allow-write=/deno-dir/npm .deploy/unused.ts /deno-dir/npm
# The root file system may be read-only, so the files that Deno and V8 would write are created here.
RUN deno run --no-lock --allow-read --allow-run .deploy/fill_caches.ts && rm -r .deploy && mkdir /data

FROM ${BASE}
WORKDIR /app
# Workers get the permissions in SLUICE_PERMISSIONS. PORT overrides the configured port, so that the health check knows the port.
ENV DENO_DIR=/deno-dir DENO_NO_UPDATE_CHECK=1 MALLOC_ARENA_MAX=1 DENO_TOKIO_EVENT_INTERVAL=12 PORT=8787 SLUICE_CONFIG=/app/sluice.jsonc \
  SLUICE_PERMISSIONS="--no-prompt --allow-net --allow-env --allow-sys=hostname,networkInterfaces --deny-import --allow-read=/app,/deno-dir,/dev/null,/run/secrets,/var/run/secrets --allow-write=/app/data"
# All files belong to root. The process can write only to its data folder, and the root file system can be mounted read-only.
COPY --from=build /deno-dir /deno-dir
COPY --from=build /app /app
# 65532 is the image's user `nonroot`. /app/data is copied with this owner, which an empty volume inherits.
COPY --from=build --chown=65532:65532 /data /app/data
USER 65532:65532
EXPOSE 8787
VOLUME /app/data
# With server.tls the gateway answers only HTTPS, with a certificate that is not for this address.
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s CMD ["/bin/deno", "eval", "--no-config", "--unsafely-ignore-certificate-errors=127.0.0.1", \
  "for (const s of ['http', 'https']) { const r = await fetch(`${s}://127.0.0.1:${Deno.env.get('PORT')}/healthz`).catch(() => null); if (r?.ok) Deno.exit(0); } Deno.exit(1)"]
ENTRYPOINT ["/bin/deno", "run", "--lock=.deno/runtime.lock", "--env-file=.deno/start.env", "--no-prompt", "--allow-net", "--allow-env", "--allow-sys=hostname,networkInterfaces", "--allow-run=/bin/deno", "--deny-import", "--allow-read=/app,/deno-dir,/dev/null,/run/secrets,/var/run/secrets", "--allow-write=/app/data", "--unstable-lazy-dynamic-imports", "--v8-flags=--no-lazy,--no-memory-reducer,--expose-gc,--no-allocation-site-pretenuring,--invocation-count-for-maglev=50,--minimum-invocations-after-ic-update=150,--min-semi-space-size=16,--max-semi-space-size=16,--heap-growing-percent=200,--no-parallel-scavenge", "--cached-only", "src/main.ts"]
CMD ["serve", "--hostname", "0.0.0.0"]
