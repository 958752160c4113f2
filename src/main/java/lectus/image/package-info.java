/**
 * The image of a database: what it is, as one stream of frames, read while writers go on, and
 * stored again.
 */
package lectus.image;
