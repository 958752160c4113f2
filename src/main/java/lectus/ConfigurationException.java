package lectus;

/** A configuration that Lectus does not start with. The message is one sentence for people. */
final class ConfigurationException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  ConfigurationException(String sentence) {
    super(sentence, null, false, false);
  }
}
