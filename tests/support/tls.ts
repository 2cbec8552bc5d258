/** A certificate of localhost and 127.0.0.1 for servers of tests, and the authority that vouches for it; its key is nowhere else. */
const read = (name: string) => Deno.readTextFileSync(new URL(`tls/${name}.pem`, import.meta.url));

export const TLS = { cert: read("cert"), key: read("key") };
/** What a client must trust. */
export const CA = read("ca");
/** Another certificate of the same names, by another authority. */
export const OTHER = { cert: read("other_cert"), key: read("other_key"), ca: read("other_ca") };
