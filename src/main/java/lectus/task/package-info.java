/**
 * What a server does beside answering requests, for those who want to see it. Who shows it is not
 * known here.
 */
package lectus.task;
