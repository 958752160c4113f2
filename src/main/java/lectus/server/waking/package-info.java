/**
 * Waking listeners when a database moved: events and the channel that carries them, the listeners
 * of each database, and the poller that finds what no event announced. No class here knows how
 * servers find each other.
 */
package lectus.server.waking;
