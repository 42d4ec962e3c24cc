/** An error in the format of the identity provider. */
export const failure = (status: number, error_code: string, msg: string): Response =>
  Response.json({ code: status, error_code, msg }, { status, headers: { "x-sb-error-code": error_code } });

export const emailExists = (): Response =>
  failure(422, "email_exists", "A user with this email address has already been registered");

export const malformedAddress = (): Response =>
  failure(400, "validation_failed", "Unable to validate email address: invalid format");

export const userBanned = (status = 403, msg = "User is banned"): Response => failure(status, "user_banned", msg);
