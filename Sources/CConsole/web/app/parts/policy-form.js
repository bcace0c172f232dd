/** A form for a policy and its merge rules. */
import { h, button, field, replace } from './dom.js';

export const POLICIES = ['threeWayMerge', 'mostRevisions', 'localWins', 'remoteWins', 'deletesWin', 'latestAttributeWins', 'latestDocumentWins'];
const RULES = ['winner', 'sum', 'union', 'lines', 'leave'];

/** The form; `value()` is what the server takes as `policy`, with a `Map` for objects. */
export function policyForm(onChange) {
  const rules = new Map();
  const names = h('select', { on: { change: changed } }, POLICIES.map(name => h('option', { value: name }, name)));
  const clash = h('select', { on: { change: onChange } }, RULES.map(name => h('option', { value: name }, name)));
  const place = h('input', { placeholder: '/count', 'aria-label': 'Member of a rule, as a JSON pointer' });
  const rule = h('select', { 'aria-label': 'Rule' }, RULES.map(name => h('option', { value: name }, name)));
  const chips = h('span');
  const forMerge = h('span', { class: 'toolbar' }, field('Other clashes', clash),
    h('form', { class: 'toolbar', on: { submit: add } }, place, rule, h('button', { class: 'button small' }, '+ Rule')), chips);

  function add(event) {
    event.preventDefault();
    if (!place.value) return;
    rules.set(place.value.startsWith('/') ? place.value : `/${place.value}`, rule.value);
    place.value = '';
    changed();
  }

  function changed() {
    forMerge.hidden = names.value !== 'threeWayMerge';
    replace(chips, [...rules].map(([path, name]) => button(`${path}=${name} ×`, () => { rules.delete(path); changed(); }, { class: 'button small', 'aria-label': `Remove the rule ${path}=${name}` })));
    onChange();
  }

  return {
    element: h('div', { class: 'toolbar' }, field('Policy', names), forMerge),
    choose(name) { names.value = name; changed(); },
    value() {
      if (names.value !== 'threeWayMerge') return names.value;
      return new Map([['name', 'threeWayMerge'], ['rules', rules], ['on_clash', clash.value]]);
    },
  };
}
