import type { ComponentChildren, ComponentProps } from 'preact';
import { useState } from 'preact/hooks';
import { type Json, visibleEscape, visibleJsonText, visibleText } from 'countersign/base';
import { hiddenNote, type CardText } from 'countersign/card';
import { temporalHref } from '../state/paths.ts';
import { meOf, session } from '../state/me.ts';
import { useStore } from '../state/store.ts';
import { Button } from './controls.tsx';

/** The most marks in a text. A text with more escapes has no marks, because so many elements slow the page. */
const mostMarks = 2_000;

/** Shows an escaped text, with marks around its escapes. It makes only text nodes, so no HTML can come in. */
export function Marked({ text }: { text: string }) {
  const parts: (string | { escape: string })[] = [];
  let from = 0;
  for (const { index, 0: escape } of text.matchAll(visibleEscape)) {
    if (parts.length > mostMarks * 2) return <bdi>{text}</bdi>;
    parts.push(text.slice(from, index), { escape });
    from = index + escape.length;
  }
  parts.push(text.slice(from));
  return <bdi>{parts.map((part) => (typeof part === 'string' ? part : <mark>{part.escape}</mark>))}</bdi>;
}

/** Shows a text of a card. In place of a hidden middle, a note says how many characters are hidden. */
export function ShownText({ text }: { text: CardText }) {
  if (text.hidden === undefined) return <Marked text={text.text} />;
  return (
    <>
      <Marked text={text.text} />
      <span class="cut"> … {hiddenNote(text)} … </span>
      <Marked text={text.end ?? ''} />
    </>
  );
}

const step = 20_000;

interface ForeignProps {
  text: string;
  most?: number;
  /** True: line feeds of the text stay line feeds. */
  lines?: boolean;
  /** True: the text is JSON, in which escapes such as `\n` stay as they are. */
  json?: boolean;
}

/** Shows an untrusted text with its invisible characters made visible; `most` characters at first, with a button. */
export function Foreign({ text, most = 2_000, lines = false, json = false }: ForeignProps) {
  const [shown, setShown] = useState(most);
  const visible = (part: string): string => (json ? visibleJsonText(part) : visibleText(part, { lines }));
  if (text.length <= shown) return <Marked text={visible(text)} />;
  return (
    <>
      <Marked text={visible(text.slice(0, shown).toWellFormed())} />
      <Button class="more" onClick={() => setShown(shown + step)}>
        … show more ({(text.length - shown).toLocaleString('en')} characters left)
      </Button>
    </>
  );
}

interface NamedProps {
  text: string | undefined;
  most?: number;
  before?: string;
  after?: string;
}

/** An untrusted name between trusted words. Empty without a name. */
export function Named({ text, most = 100, before = '', after = '' }: NamedProps) {
  if (text === undefined) return null;
  return (
    <>
      {before}
      <Foreign text={text} most={most} />
      {after}
    </>
  );
}

interface FailureNoteProps {
  message: string | undefined;
  words?: string;
  isAlert?: boolean;
}

/** A note with an untrusted message after trusted `words`; empty without a message. */
export function FailureNote({ message, words = '', isAlert = false }: FailureNoteProps) {
  if (message === undefined) return null;
  return (
    <p class="note bad" role={isAlert ? 'alert' : undefined}>
      {words}
      <Foreign text={message} />
    </p>
  );
}

export function ForeignValue({ value, most }: { value: Json; most: number }) {
  if (typeof value === 'string' && value !== '') return <Foreign text={value} most={most} lines />;
  return <Foreign text={JSON.stringify(value)} most={most} json />;
}

/** A block of text with its own scroll bar. `label`: its name for screen readers. */
export function Scrolling({ label, ...block }: ComponentProps<'pre'> & { label: string }) {
  return <pre {...block} tabIndex={0} role="group" aria-label={label} />;
}

const longestFolded = 240;

/** Shows the first lines of a long text, with a button that shows the rest. `length`: the number of characters. */
export function Folded({ length, children }: { length: number; children: ComponentChildren }) {
  const [isOpen, setOpen] = useState(false);
  if (length <= longestFolded || isOpen) return <div>{children}</div>;
  return (
    <>
      <div class="folded">{children}</div>
      <Button class="more" onClick={() => setOpen(true)}>
        Show the rest
      </Button>
    </>
  );
}

/** Shows a long escaped text in steps, because drawing a megabyte at once blocks the page. */
export function LongText({ text, label, most = step }: { text: string; label: string; most?: number }) {
  const [shown, setShown] = useState(most);
  const isAll = text.length <= shown;
  return (
    <>
      <Scrolling label={label}>
        <Marked text={isAll ? text : text.slice(0, shown).toWellFormed()} />
      </Scrolling>
      {!isAll && (
        <p class="buttons">
          <Button onClick={() => setShown(shown + step * 5)}>Show more</Button>
          <Button onClick={() => setShown(Infinity)}>
            Show all ({(text.length - shown).toLocaleString('en')} characters left)
          </Button>
        </p>
      )}
    </>
  );
}

const paths = {
  search: 'M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13M15.3 15.3 20 20',
  person: 'M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8M4.5 20c.8-3.6 3.8-5.5 7.5-5.5s6.7 1.9 7.5 5.5',
  filter: 'M4 6h16M7 12h10M10 18h4',
} as const;

export function Icon({ name }: { name: keyof typeof paths }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}

export function TemporalLink({ workflowId }: { workflowId: string }) {
  const me = meOf(useStore(session));
  const href = me?.temporalUi === undefined ? undefined : temporalHref(me.temporalUi, workflowId);
  if (href === undefined) return null;
  return (
    <p>
      <a href={href} target="_blank" rel="noreferrer">
        See it in Temporal's UI
      </a>
    </p>
  );
}
