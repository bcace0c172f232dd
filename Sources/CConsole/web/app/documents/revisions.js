/** The revisions of a document beside its text: which bodies are kept, which are gone, and links to them. */
import { link } from '../router.js';
import { h, card } from '../parts/dom.js';
import { number, short, t } from '../words.js';

const FEW = 12;
const MOST = 500;
const generation = rev => Number(rev.split('-')[0]);
const inOrder = (one, other) => generation(one) <= generation(other) ? [one, other] : [other, one];

/** What a revision is: its sign, and the word for it. */
function stateOf(revision, winner) {
  if (revision.deleted) return ['✕', t.revisions.tombstone];
  if (revision.rev === winner) return ['●', t.common.winner];
  if (revision.leaf) return ['●', t.revisions.inConflict];
  return revision.stored ? ['●', t.revisions.kept] : ['○', t.revisions.itsBodyIsGone];
}

/** Lists revisions, the newest first; `shown` is the one in the editor. */
export function revisionList({ db, id, tree, shown }) {
  const all = tree.revisions.map(revision => revision.folded ? { folded: revision.folded, rev: revision.to } : revision)
    .sort((a, b) => generation(b.rev) - generation(a.rev) || Number(b.rev === tree.rev) - Number(a.rev === tree.rev));
  const line = revision => {
    if (revision.folded) return h('li', { class: 'muted' }, `┊ ${number(revision.folded)}`);
    const [sign, word] = stateOf(revision, tree.rev);
    const name = h('span', { class: 'rev' }, short(revision.rev));
    const isWinner = revision.rev === tree.rev && !revision.deleted;
    return h('li', { title: revision.rev, 'aria-current': revision.rev === shown ? 'true' : null }, h('span', { 'aria-hidden': 'true' }, `${sign} `),
      revision.stored ? h('a', { href: isWinner ? link([db, 'doc', id]) : link([db, 'doc', id], { rev: revision.rev }) }, name) : name,
      h('span', { class: 'muted' }, ` ${word}`),
      revision.stored && shown && revision.rev !== shown && [' ', comparison(...inOrder(revision.rev, shown), short(revision.rev))]);
  };
  const comparison = (a, b, name) => h('a', { href: link([db, 'compare', id], { a, b }), 'aria-label': t.revisions.compareWith(name) }, t.revisions.compare);
  return card(t.common.revisions, [h('p', { class: 'muted small' }, t.revisions.keptRevisionsServeReplicationBodies(t.revisions.bodiesCount(all.filter(revision => revision.stored).length))),
    h('ul', { class: 'list' }, all.slice(0, FEW).map(line)),
    all.length > FEW && h('details', {}, h('summary', {}, t.revisions.olderRevisions), h('ul', { class: 'list' }, all.slice(FEW, MOST).map(line)))]);
}
