/**
 * Requests that wait: clients take turns at the readers' threads. A request that has waited too
 * long, or waits for a store that does not answer, gets an error. What the work does is of no
 * concern here.
 */
package lectus.server.turn;
