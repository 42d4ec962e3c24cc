/** The mail domain of a stack that receives mail only from its own machine. */
export const LOCAL_DOMAIN = "in.localhost";
