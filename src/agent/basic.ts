/** Username and password of HTTP Basic, which agents and controllers use in place of certificates only where that was chosen. */

export interface BasicCredentials {
  readonly username: string;
  readonly password: string;
}

/** What of it HTTP Basic cannot carry (RFC 7617: the first colon divides, control characters are not allowed); undefined = nothing. */
export function checkBasic(
  { username, password }: BasicCredentials,
  usernameName: string,
  passwordName: string,
): string | undefined {
  if (/[:\p{Cc}]/u.test(username)) return `${usernameName} holds a colon or a control character, such as a line end`;
  if (/\p{Cc}/u.test(password)) return `${passwordName} holds a control character, such as a line end`;
  return undefined;
}
