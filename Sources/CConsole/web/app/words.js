/** Numbers, sizes and moments as people read them. */

const numbers = new Intl.NumberFormat('en');
const moments = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

export const number = value => numbers.format(value);
export const moment = milliseconds => moments.format(new Date(milliseconds));
export const count = (value, one, many = `${one}s`) => `${number(value)} ${value === 1 ? one : many}`;

export function bytes(value) {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  let unit = 0;
  for (; value >= 1000 && unit < units.length - 1; unit += 1) value /= 1000;
  return `${unit && value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** A revision for people: its generation and first digits. */
export function short(revision) {
  const [generation, digits = ''] = String(revision).split('-');
  return digits.length > 10 ? `${generation}-${digits.slice(0, 8)}…` : String(revision);
}
