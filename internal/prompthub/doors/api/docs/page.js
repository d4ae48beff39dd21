"use strict";

SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#reader",
  deepLinking: true,
  defaultModelRendering: "model", // what an answer has, and an example beside it
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  docExpansion: "list",
  filter: true,
  tryItOutEnabled: true,
  validatorUrl: null, // nobody else is asked
});
