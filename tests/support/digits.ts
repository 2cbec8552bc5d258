/**
 * Whether a text tells two neighbouring groups of a number written as `4111 1111 1111 1111`. One group alone says nothing: the
 * same four digits stand in some random ids and times.
 */
export function tellsNumber(text: string, number: string): boolean {
  const groups = number.split(/\D+/);
  return groups.slice(1).some((group, i) => new RegExp(`${groups[i]}[^0-9A-Za-z]{0,8}${group}`).test(text));
}
