/** An error in the format of the identity provider. */
export const failure = (status: number, error_code: string, msg: string) =>
  Response.json({ code: status, error_code, msg }, { status, headers: { "x-sb-error-code": error_code } });
