import java.beans.FeatureDescriptor;
import java.io.StringWriter;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.*;
import javax.el.*;
import javax.tools.*;

/** Evaluates the lines "language TAB text TAB variables" of a file, the last two as JSON, with the
 * interpreters on the class path, and prints one line for each: JSON of the value, or "error". */
public class JavaReferee {
  private static String source;
  private static int at;

  private static Object read(String json) {
    source = json;
    at = 0;
    return value();
  }

  private static void blank() {
    while (at < source.length() && source.charAt(at) <= ' ') at++;
  }

  private static boolean takes(char sign) {
    blank();
    if (source.charAt(at) != sign) return false;
    at++;
    return true;
  }

  private static Object value() {
    if (takes('{')) {
      Map<String, Object> found = new LinkedHashMap<>();
      while (!takes('}')) {
        takes(',');
        String name = (String) value();
        takes(':');
        found.put(name, value());
      }
      return found;
    }
    if (takes('[')) {
      List<Object> found = new ArrayList<>();
      while (!takes(']')) {
        takes(',');
        found.add(value());
      }
      return found;
    }
    if (takes('"')) {
      StringBuilder found = new StringBuilder();
      for (char c = source.charAt(at++); c != '"'; c = source.charAt(at++)) {
        if (c != '\\') found.append(c);
        else {
          char sign = source.charAt(at++);
          int plain = "nrtbf".indexOf(sign);
          if (sign == 'u') {
            found.append((char) Integer.parseInt(source.substring(at, at + 4), 16));
            at += 4;
          } else found.append(plain < 0 ? sign : "\n\r\t\b\f".charAt(plain));
        }
      }
      return found.toString();
    }
    for (String word : List.of("true", "false", "null")) {
      if (source.startsWith(word, at)) {
        at += word.length();
        return word.equals("null") ? null : (Object) Boolean.valueOf(word);
      }
    }
    int start = at;
    while (at < source.length() && "+-.eE0123456789".indexOf(source.charAt(at)) >= 0) at++;
    String number = source.substring(start, at);
    if (!number.matches("-?[0-9]+")) return Double.valueOf(number);
    long whole = Long.parseLong(number);
    return (int) whole == whole ? (Object) (int) whole : (Object) whole;
  }

  private static String json(Object value) {
    if (value == null || value instanceof Boolean) return String.valueOf(value);
    if (value instanceof Number) {
      double number = ((Number) value).doubleValue();
      return Double.isFinite(number) ? value.toString() : "\"" + value + "\"";
    }
    if (value instanceof Collection) {
      StringJoiner found = new StringJoiner(", ", "[", "]");
      for (Object one : (Collection<?>) value) found.add(json(one));
      return found.toString();
    }
    if (value instanceof Map) {
      StringJoiner found = new StringJoiner(", ", "{", "}");
      ((Map<?, ?>) value).forEach((k, v) -> found.add(json(String.valueOf(k)) + ": " + json(v)));
      return found.toString();
    }
    StringBuilder found = new StringBuilder("\"");
    for (char c : value.toString().toCharArray()) {
      if (c == '"' || c == '\\') found.append('\\').append(c);
      else if (c < ' ' || c > '~') found.append(String.format("\\u%04x", (int) c));
      else found.append(c);
    }
    return found.append('"').toString();
  }

  /** The variables of a process, of which an unknown one is an error as in the engines. */
  private static class Variables extends ELResolver {
    private final Map<String, Object> values;

    Variables(Map<String, Object> values) {
      this.values = values;
    }

    @Override
    public Object getValue(ELContext context, Object base, Object name) {
      if (base != null) return null;
      if (!values.containsKey(name)) throw new PropertyNotFoundException(String.valueOf(name));
      context.setPropertyResolved(true);
      return values.get(name);
    }

    @Override
    public Class<?> getType(ELContext context, Object base, Object name) {
      return Object.class;
    }

    @Override
    public void setValue(ELContext context, Object base, Object name, Object value) {
      throw new PropertyNotWritableException();
    }

    @Override
    public boolean isReadOnly(ELContext context, Object base, Object name) {
      return true;
    }

    @Override
    public Iterator<FeatureDescriptor> getFeatureDescriptors(ELContext context, Object base) {
      return null;
    }

    @Override
    public Class<?> getCommonPropertyType(ELContext context, Object base) {
      return Object.class;
    }
  }

  private static Object juel(String text, Map<String, Object> values) {
    CompositeELResolver all = new CompositeELResolver();
    all.add(new Variables(values));
    all.add(new ListELResolver(true));
    all.add(new MapELResolver(true));
    all.add(new BeanELResolver(true));
    ELContext context =
        new ELContext() {
          @Override
          public ELResolver getELResolver() {
            return all;
          }

          @Override
          public FunctionMapper getFunctionMapper() {
            return null;
          }

          @Override
          public VariableMapper getVariableMapper() {
            return null;
          }
        };
    ExpressionFactory factory = ExpressionFactory.newInstance();
    return factory.createValueExpression(context, text, Object.class).getValue(context);
  }

  private static Object mvel(String text, Map<String, Object> values) throws Exception {
    Class<?> type = Class.forName("org.mvel2.MVEL");
    return type.getMethod("eval", String.class, Map.class).invoke(null, text, new HashMap<>(values));
  }

  private static Object groovy(String text, Map<String, Object> values) throws Exception {
    Class<?> binding = Class.forName("groovy.lang.Binding");
    Class<?> shell = Class.forName("groovy.lang.GroovyShell");
    Object bound = binding.getConstructor(Map.class).newInstance(new HashMap<>(values));
    Object made = shell.getConstructor(binding).newInstance(bound);
    return shell.getMethod("evaluate", String.class).invoke(made, text);
  }

  private static int count;

  /** A method whose parameters have the classes of the values, as jBPM generates it. */
  private static Object java(String body, Map<String, Object> values) throws Exception {
    StringJoiner parameters = new StringJoiner(", ");
    StringJoiner given = new StringJoiner(", ");
    values.forEach(
        (name, value) -> {
          String type = value == null ? "Object" : value.getClass().getSimpleName();
          if (value instanceof Map) type = "Map<String, Object>";
          if (value instanceof List) type = "List<Object>";
          parameters.add(type + " " + name);
          given.add("(" + type + ") v.get(\"" + name + "\")");
        });
    Path folder = Files.createTempDirectory("referee");
    Path file = folder.resolve("Condition" + count++ + ".java");
    String name = file.getFileName().toString().replace(".java", "");
    Files.writeString(
        file,
        String.format(
            "import java.util.*;%npublic class %s {%n  static boolean test(%s) { %s }%n"
                + "  public static Object run(Map<String, Object> v) { return test(%s); }%n}%n",
            name, parameters, body, given));
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null);
    List<String> options = List.of("-d", folder.toString(), "-nowarn", "-proc:none");
    StringWriter said = new StringWriter();
    if (!compiler.getTask(said, files, null, options, null, files.getJavaFileObjects(file)).call())
      throw new IllegalArgumentException("it does not compile");
    try (URLClassLoader loader = new URLClassLoader(new URL[] {folder.toUri().toURL()})) {
      return loader.loadClass(name).getMethod("run", Map.class).invoke(null, values);
    }
  }

  @SuppressWarnings("unchecked")
  public static void main(String[] arguments) throws Exception {
    for (String line : Files.readAllLines(Path.of(arguments[0]))) {
      String[] parts = line.split("\t");
      String text = (String) read(parts[1]);
      Map<String, Object> values = (Map<String, Object>) read(parts[2]);
      String answer;
      try {
        switch (parts[0]) {
          case "juel":
            answer = json(juel(text, values));
            break;
          case "mvel":
            answer = json(mvel(text, values));
            break;
          case "groovy":
            answer = json(groovy(text, values));
            break;
          default:
            answer = json(java(text, values));
        }
      } catch (ClassNotFoundException missing) {
        answer = "missing";
      } catch (Exception | LinkageError failed) {
        boolean inside = failed instanceof InvocationTargetException;
        Throwable cause = inside ? failed.getCause() : failed;
        answer = cause instanceof IllegalArgumentException && parts[0].equals("java")
            ? "uncompiled" : "error";
      }
      System.out.println(answer);
    }
  }
}
