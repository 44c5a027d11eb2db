/// This interface for machines (OpenAPI 3.1): what `GET /openapi.yaml` answers.
///
/// The document is the file `openapi.yaml` beside this one. It is written by hand, because a description made from the code
/// would be wrong where the code is; tests compare it with the routes and with every list of words.
enum OpenAPIDocument {
    /// - Parameter version: Stands in the place of the file's own, which says 0.0.0.
    static func text(version: String) -> String {
        String(decoding: PackageResources.openapi_yaml, as: UTF8.self)
            .replacing("\n  version: \"0.0.0\"\n", with: "\n  version: \"\(version)\"\n", maxReplacements: 1)
    }
}
