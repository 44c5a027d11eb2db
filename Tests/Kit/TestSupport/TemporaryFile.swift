/// A file that exists while a test uses it.
public enum TemporaryFile {
    public static func with<Result>(
        _ content: String, _ body: (String) async throws -> Result
    ) async throws -> Result {
        try await TemporaryDirectory.with { directory in
            try await body(directory.write(content, to: "file"))
        }
    }
}
