/**
 * The forms of the log's lines, and what they say of the request that they are about. Nothing that
 * a client sends can begin a line or end it.
 */
package lectus.log;
