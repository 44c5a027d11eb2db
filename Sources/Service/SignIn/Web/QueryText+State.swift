import Encodings

extension QueryText {
    /// Returns the URL with these parameters and the `state` of an app's page, which is percent-encoded
    /// already.
    func appended(to url: String, state: String?) -> String {
        guard let state else { return appended(to: url) }
        var query = self
        query.append("state", encoded: state)
        return query.appended(to: url)
    }
}
