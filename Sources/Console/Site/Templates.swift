import PageTemplates

/// The templates of the console, by the names of their files.
enum Templates {
    static let files: [String: [UInt8]] = [
        "audit": PackageResources.audit_mustache,
        "frame": PackageResources.frame_mustache,
        "message": PackageResources.message_mustache,
        "settings": PackageResources.settings_mustache,
        "sign-in": PackageResources.sign_in_mustache,
        "start": PackageResources.start_mustache,
    ]

    static func library() throws -> TemplateLibrary { try TemplateLibrary(files) }
}
