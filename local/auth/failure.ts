/** A refusal as the identity provider words it. */
export const failure = (status: number, error_code: string, msg: string) =>
  Response.json({ code: status, error_code, msg }, { status, headers: { "x-sb-error-code": error_code } });
