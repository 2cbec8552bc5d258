/** A certificate of localhost and 127.0.0.1 for servers of tests, and the authority that vouches for it; its key is nowhere else. */
const read = (name: string) => Deno.readTextFileSync(new URL(`tls/${name}.pem`, import.meta.url));

export const TLS = { cert: read("cert"), key: read("key") };
/** What a client must trust. */
export const CA = read("ca");
/** Another certificate of the same names, by another authority. */
export const OTHER = { cert: read("other_cert"), key: read("other_key"), ca: read("other_ca") };
/** A certificate of the same names that ended in 2025, and its authority. */
export const EXPIRED = { cert: read("expired_cert"), key: read("expired_key"), ca: read("expired_ca") };
/** A certificate of the same names, signed by itself as that of an authority. */
export const SELF_SIGNED = { cert: read("self_cert"), key: read("self_key") };
