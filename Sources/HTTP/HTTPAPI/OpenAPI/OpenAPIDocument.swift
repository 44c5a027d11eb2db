/// The OpenAPI 3.1 document of this interface, served as `GET /openapi.yaml`.
///
/// The text is the file `openapi.yaml` beside this file, written by hand: a document generated from the code
/// would repeat the code's mistakes. Tests compare it with the routes and with every list of words.
enum OpenAPIDocument {
    /// - Parameter version: Replaces the version in the file, which is 0.0.0.
    static func text(version: String) -> String {
        String(decoding: PackageResources.openapi_yaml, as: UTF8.self)
            .replacing("\n  version: \"0.0.0\"\n", with: "\n  version: \"\(version)\"\n", maxReplacements: 1)
    }
}
