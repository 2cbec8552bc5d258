/** IP addresses and networks (CIDR). */

/** The addresses with a common prefix. */
export interface Network {
  bits: bigint;
  /** Prefix length in bits, of 128. */
  length: number;
}

const ALL_BITS = 128;
/** `::ffff:0:0/96`, the range of IPv4-mapped addresses. */
const IPV4 = 0xffffn << 32n;

/** Parses `10.0.0.0/8`, `::1`. Null: neither an address nor a network. */
export function networkOf(text: string): Network | null {
  const [address, length, ...more] = text.split("/");
  const bits = bitsOf(address);
  if (bits === null || more.length > 0) return null;
  if (length === undefined) return { bits, length: ALL_BITS };
  const most = address.includes(":") ? ALL_BITS : 32;
  if (!/^\d{1,3}$/.test(length) || Number(length) > most) return null;
  return { bits, length: ALL_BITS - most + Number(length) };
}

/** Whether an address is in one of the networks; false for an invalid address. */
export function isWithin(address: string, networks: readonly Network[]): boolean {
  const bits = bitsOf(address);
  return bits !== null && networks.some((network) => {
    const rest = BigInt(ALL_BITS - network.length);
    return bits >> rest === network.bits >> rest;
  });
}

/** An address as 128 bits. Null: invalid. */
export function bitsOf(address: string): bigint | null {
  const parts = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(address)?.slice(1).map(Number);
  if (parts !== undefined) {
    return parts.every((n) => n < 256) ? parts.reduce((sum, n) => sum << 8n | BigInt(n), 0n) | IPV4 : null;
  }
  if (!address.includes(":") || !URL.canParse(`http://[${address}]`)) return null;
  // The URL parser converts embedded IPv4 parts to hexadecimal.
  const [head, tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const words = (text: string | undefined) => text ? text.split(":") : [];
  const [first, last] = [words(head), words(tail)];
  const zeros = tail === undefined ? 0 : 8 - first.length - last.length;
  return [...first, ...Array(zeros).fill("0"), ...last].reduce(
    (sum, word) => sum << 16n | BigInt(`0x${word}`),
    0n,
  );
}

/** Identifies the owner of an address: for IPv6 its first 64 bits, which are usually assigned to one site. */
export function holderOf(address: string): string {
  const bits = bitsOf(address);
  if (bits === null || bits >> 32n === IPV4 >> 32n) return address;
  return `${(bits >> 64n).toString(16)}::/64`;
}
