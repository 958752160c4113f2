/**
 * What stored feeds are: their definitions, their limits, and the channels in which a document is.
 * Neither entries nor the store.
 */
package lectus.channel;
