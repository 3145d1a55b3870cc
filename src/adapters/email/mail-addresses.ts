import { visibleText } from '../../core/base/visible-text.ts';
import { groupOf } from '../../core/people/directory.ts';
import type { MailedPerson } from './recipients.ts';
import { policyInvalid } from '../../channels/policy-invalid.ts';
import { nfc } from '../../core/base/normal-text.ts';

/** Reviewers by name, in NFC. Throws `policy_invalid` for a name that nobody can have, and for what is no address. */
export function peopleOf(people: Readonly<Record<string, string | MailedPerson>>): Map<string, MailedPerson> {
  return new Map(
    Object.entries(people).map(([name, person]) => {
      const { address, groups } = typeof person === 'string' ? { address: person, groups: [] } : person;
      if (groupOf(name) !== undefined || visibleText(name) !== name || name.trim() !== name) {
        throw policyInvalid(`'${visibleText(name)}' in 'people' is not the name of a person.`);
      }
      return [nfc(name), { address: addressOf(address), groups }];
    }),
  );
}

/** A sender, with or without a name. Throws `policy_invalid`. */
export function senderOf(text: string): { name: string; address: string } {
  const [, name = '', address = ''] = /^([^<>\p{C}]*)<([^<>]*)>$/u.exec(text) ?? ['', '', text];
  return { name: name.trim(), address: addressOf(address) };
}

/** One address: not a list, not a group, nothing that begins a line of its own. Throws `policy_invalid`. */
export function addressOf(text: string): string {
  if (text.length <= 254 && /^[\w.!#$%&'*+/=?^`{|}~-]+@[A-Za-z0-9.-]+$/.test(text)) return text;
  throw policyInvalid(`'${visibleText(text.slice(0, 100))}' is not the address of a mailbox, such as ann@example.com.`);
}
