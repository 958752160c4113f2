/**
 * The configuration: every key, declared once with its name, type, default, bounds and meaning; the
 * sources that set it (file, environment, flags); and the settings of the packages below, made from
 * them.
 */
package lectus.config;
