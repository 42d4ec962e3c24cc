/** The domain of the addresses on a stack that receives mail only from its own machine. */
export const LOCAL_DOMAIN = "in.localhost";
