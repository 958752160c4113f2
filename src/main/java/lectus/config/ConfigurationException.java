package lectus.config;

/**
 * An invalid configuration, with which Lectus does not start. The message is one sentence for
 * people.
 */
public final class ConfigurationException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public ConfigurationException(String sentence) {
    super(sentence, null, false, false);
  }
}
