extension OpenAPIDocument {
    /// Calls of browsers, of Apple and of whoever runs the service.
    static var otherPaths: String {
        #"""
          /v1/web/sign-in:
            get:
              tags: [web]
              operationId: webSignIn
              summary: The link that a browser follows to sign in.
              security: []
              parameters:
                - name: client_id
                  in: query
                  description: A Services ID with a redirect URL. Can be left out where there is only one.
                  schema: { type: string }
                - name: state
                  in: query
                  description: The page's own, at most 512 bytes. It comes back byte for byte.
                  schema: { type: string, minLength: 1 }
                - name: scope
                  in: query
                  schema: { type: string, enum: [name, email, name email, email name], default: name email }
              responses:
                "303": { $ref: "#/components/responses/Redirect" }
                default: { $ref: "#/components/responses/Problem" }
          /v1/web/callback:
            post:
              tags: [web]
              operationId: webCallback
              summary: Where Apple's page posts its form. Registered at Apple as return URL.
              security: []
              requestBody:
                required: true
                content:
                  application/x-www-form-urlencoded:
                    schema:
                      type: object
                      required: [state]
                      properties:
                        state: { type: string }
                        code: { type: string }
                        id_token: { type: string }
                        user: { type: string, description: Apple's JSON object; only at the first authorization. }
                        error: { type: string, examples: [user_cancelled_authorize] }
              responses:
                "303": { $ref: "#/components/responses/Redirect" }
                "400": { $ref: "#/components/responses/Page" }
                default: { $ref: "#/components/responses/Problem" }
          /v1/web/finish:
            get:
              tags: [web]
              operationId: webFinish
              summary: Recognizes the browser and leads it to the app's page.
              description: |
                The page gets `code` and `state`, or `error`, `error_description` and `state`. `error` is Apple's own word
                (`user_cancelled_authorize`), or `invalid_identity_token`, `sign_in_refused`, `temporarily_unavailable`,
                `invalid_request`; then `error_description` is one of the codes of this interface.
              security: []
              parameters:
                - name: ticket
                  in: query
                  required: true
                  schema: { type: string }
              responses:
                "303": { $ref: "#/components/responses/Redirect" }
                "400": { $ref: "#/components/responses/Page" }
          /v1/web/results:
            post:
              tags: [web]
              operationId: webResult
              summary: Turn the code that the page got into the result of the sign-in. Once, within two minutes.
              requestBody:
                required: true
                content:
                  application/json:
                    schema:
                      type: object
                      additionalProperties: false
                      required: [code]
                      properties:
                        code: { type: string, minLength: 1 }
              responses:
                "200":
                  description: A known person.
                  content:
                    application/json:
                      schema: { $ref: "#/components/schemas/SignInOutcome" }
                "201":
                  description: The sign-in made the account.
                  content:
                    application/json:
                      schema: { $ref: "#/components/schemas/SignInOutcome" }
                default: { $ref: "#/components/responses/Problem" }
          /v1/apple/notifications:
            post:
              tags: [apple]
              operationId: appleNotification
              summary: Apple's server-to-server notifications. Durable when answered.
              security: []
              requestBody:
                required: true
                content:
                  application/json:
                    schema:
                      type: object
                      required: [payload]
                      properties:
                        payload: { type: string }
              responses:
                "200":
                  description: Taken.
                  content:
                    application/json:
                      schema:
                        type: object
                        required: [result]
                        properties:
                          result: { type: string, enum: [applied, duplicate, unknown_type] }
                "401": { $ref: "#/components/responses/Refused" }
                default: { $ref: "#/components/responses/Problem" }
          /livez:
            get:
              tags: [operations]
              operationId: livez
              summary: The process answers.
              security: []
              responses:
                "200": { $ref: "#/components/responses/Status" }
          /readyz:
            get:
              tags: [operations]
              operationId: readyz
              summary: The database is usable and keys are at hand.
              security: []
              responses:
                "200": { $ref: "#/components/responses/Status" }
                default: { $ref: "#/components/responses/Problem" }
          /health:
            get:
              tags: [operations]
              operationId: health
              summary: The same with its parts, for people.
              security: []
              responses:
                "200": { $ref: "#/components/responses/Status" }
                "503": { $ref: "#/components/responses/Status" }
          /version:
            get:
              tags: [operations]
              operationId: version
              summary: What runs.
              security: []
              responses:
                "200":
                  description: Name and version.
                  content:
                    application/json:
                      schema:
                        type: object
                        required: [name, version]
                        properties:
                          name: { type: string, const: siwa }
                          version: { type: string }
          /metrics:
            get:
              tags: [operations]
              operationId: metrics
              summary: Prometheus text. Needs an API key that is not limited to apps.
              responses:
                "200":
                  description: Exposition format 0.0.4.
                  content:
                    text/plain:
                      schema: { type: string }
                default: { $ref: "#/components/responses/Problem" }
          /openapi.yaml:
            get:
              tags: [operations]
              operationId: openAPI
              summary: This document.
              security: []
              responses:
                "200":
                  description: OpenAPI 3.1.
                  content:
                    application/yaml:
                      schema: { type: string }

        """#
    }
}
