extension StringProtocol {
    /// The text of an attribute as a browser reads it, for the escapes in our pages.
    public var htmlUnescaped: String {
        String(self).replacing("&quot;", with: "\"").replacing("&#39;", with: "'")
            .replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&amp;", with: "&")
    }
}
