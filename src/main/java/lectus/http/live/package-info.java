/**
 * Live feeds of one event loop: listeners that read on their own or share a tail, and the forms in
 * which rows reach a client (docs/feeds.md, "Live feeds"). Which resource answers is not known
 * here.
 */
package lectus.http.live;
