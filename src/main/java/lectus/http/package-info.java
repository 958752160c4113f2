/**
 * The parts of requests and answers as values: targets, parameters, headers, bodies in several
 * parts, errors as statuses. Also the settings of HTTP and JSON web tokens.
 */
package lectus.http;
