//! Tools of other programs, and ours for them: the Model Context Protocol, client and server.
