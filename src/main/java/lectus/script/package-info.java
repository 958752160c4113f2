/**
 * Functions of design documents: child processes that run them, and the queues before these. A
 * child runs the class {@link lectus.script.ScriptChild} and nothing else of the server.
 */
package lectus.script;
