/**
 * Who made a value, when and where. Stamped values have a moment and a device, and devices get names. Without stamps members of the
 * app's own may say it, such as /updatedBy and /updatedAt. All of it is kept in one local document of the database.
 */
import { ask, path } from '../api.js';
import { h, bdi, field, replace } from './dom.js';
import { errorBox, resting } from './panel.js';
import { at } from '../value/compare.js';
import { stringify } from '../value/json.js';
import { moment, t } from '../words.js';

const NAME = '_local/settle-console';

/** Reads what is known of a database's origins. */
export async function readOrigins(db, signal) {
  try {
    return (await ask(path`${db}/${NAME}`, { signal, quiet: true })).json;
  } catch (error) {
    if (error.status === 404) return {};
    throw error;
  }
}

const plain = value => typeof value === 'string' ? value : stringify(value);

/** Where a value of a leaf comes from, where it is stamped. */
export function stamped(origins, leaf, place) {
  const found = leaf.get('moments')?.get(place);
  if (!found) return null;
  const device = found.get('device');
  return `${moment(found.get('at').toNumber())} ${origins.devices?.[device] ?? device}`;
}

/** Who made a leaf, as a member of the app's own says; never a guess. */
export function recorded(origins, leaf) {
  if (leaf.get('moments')) return null;
  const told = [origins.author, origins.moment].filter(Boolean).map(place => at(leaf.get('doc') ?? new Map(), place)).filter(value => value !== undefined);
  return told.length ? told.map(plain).join(' ') : t.origins.notRecorded;
}

/** Names for the devices of leaves, and the members that say who and when. */
export function originForm({ db, origins, leaves, onSave }) {
  const devices = [...new Set(leaves.flatMap(leaf => [...(leaf.get('moments')?.values() ?? [])].map(found => found.get('device'))))];
  const names = devices.map(device => [device, h('input', { value: origins.devices?.[device] ?? '', placeholder: t.origins.annaSTelephone })]);
  const [author, when] = [h('input', { value: origins.author ?? '', placeholder: '/updatedBy' }), h('input', { value: origins.moment ?? '', placeholder: '/updatedAt' })];
  const problems = h('div');
  async function save() {
    replace(problems);
    const named = Object.fromEntries(names.map(([device, input]) => [device, input.value.trim()]).filter(([, name]) => name));
    const body = { ...origins, devices: { ...origins.devices, ...named }, author: author.value.trim(), moment: when.value.trim() };
    for (const device of devices) if (!named[device]) delete body.devices[device];
    try {
      await ask(path`${db}/${NAME}`, { method: 'PUT', json: body });
      await onSave();
    } catch (error) { replace(problems, errorBox(error)); }
  }
  const form = h('form', { class: 'stack', on: { submit: event => { event.preventDefault(); resting(form, save); } } },
    names.map(([device, input]) => field([t.origins.device, bdi(device)], input)),
    field(t.origins.memberThatSaysWho, author, t.origins.forDocumentsWhoseMembers), field(t.origins.memberThatSaysWhen, when),
    problems, h('div', { class: 'toolbar' }, h('button', { class: 'button' }, t.origins.keep)));
  return h('details', {}, h('summary', {}, t.origins.whoWhenAndWhere), form);
}
