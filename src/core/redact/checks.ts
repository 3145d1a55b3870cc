/** What a pattern cannot say: whether a text that has the form of a card, an IBAN or a telephone number is one. */

/** The first digits and the lengths of the common card networks. */
const networks =
  /^(?:4\d{15}(?:\d{3})?|5[1-5]\d{14}|2(?:2[2-9]|[3-6]\d|7[01])\d{13}|2720\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|6(?:011|5\d\d|4[4-9]\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}|62\d{14,17})$/;

/** By the first digits of the networks, and by Luhn's check. */
export function isCard(text: string): boolean {
  const digits = text.replace(/[ -]/g, '');
  if (!networks.test(digits)) return false;
  // From the right, every second digit counts double.
  const sum = Array.from(digits)
    .toReversed()
    .reduce((total, digit, index) => {
      const value = Number(digit) * (index % 2 === 0 ? 1 : 2);
      return total + (value > 9 ? value - 9 : value);
    }, 0);
  return sum % 10 === 0;
}

/** The lengths of IBANs, by country: ISO 13616. */
const ibanLengths = new Map(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ' +
    'ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 ' +
    'LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 ' +
    'PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30'
  )
    .split(' ')
    .map((each) => [each.slice(0, 2), Number(each.slice(2))]),
);

/** The length of the IBAN that a match begins with, spaces included; 0 if it begins with none. */
export function isIban(match: string, next: string): number {
  const length = ibanLengths.get(match.slice(0, 2)) ?? 0;
  let [end, found] = [0, ''];
  for (; end < match.length && found.length < length; end++) if (match[end] !== ' ') found += match[end]!;
  if (length === 0 || found.length < length || /^[A-Za-z0-9]/.test(match.slice(end) || next)) return 0;
  // ISO 7064, mod 97-10: the first four characters last, each letter as a number from 10 to 35.
  let rest = 0;
  for (const character of found.slice(4) + found.slice(0, 4)) {
    const value = parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1 ? end : 0;
}

/** Not a picture for a display of twice the density, such as `icon@2x.png`, nor a remote, such as `git@host.org`. */
export function isEmail(text: string): boolean {
  return !/@\dx\.\w+$/u.test(text) && !text.startsWith('git@');
}

/** At most 15 digits, at least 8; not a date, a time or a decimal number. */
export function isPhone(text: string): boolean {
  const digits = text.replace(/\D/g, '');
  if (digits.length < 8 || digits.length > 15) return false;
  if (/^\+\d+\.\d+$/.test(text)) return false;
  return text.startsWith('+') || digits.startsWith('00') || digits.length >= 9;
}

/** True unless it is an ordinary word, as in `Password: unchanged`. */
export function isWrittenPassword(text: string): boolean {
  return /\d/.test(text) ? /[A-Za-z]|^\d{6,}$/.test(text) : /[A-Za-z][!@#$%^&*]+[A-Za-z]/.test(text);
}
