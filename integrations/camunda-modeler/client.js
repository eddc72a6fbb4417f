'use strict';

// Runs in the page of Camunda Modeler, as it is: nothing is bundled, nothing imported.

(function() {
  const PAUSE = 400;
  const RANK = { error: 0, warning: 1, info: 2 };

  // Of all tabs: each has a modeler of its own.
  const shared = { address: null, number: 0 };

  function create(tag, name, text) {
    const made = document.createElement(tag);
    if (name) {
      made.className = name;
    }
    if (text !== undefined) {
      made.textContent = text;
    }
    return made;
  }

  /** Findings of one diagram: asked for, drawn, listed, and fixed. */
  function OrgflowFindings(eventBus, canvas, overlays, elementRegistry, commandStack, injector, bpmnjs) {
    this._canvas = canvas;
    this._overlays = overlays;
    this._elementRegistry = elementRegistry;
    this._commandStack = commandStack;
    this._injector = injector;
    this._bpmnjs = bpmnjs;
    this._name = `diagram-${++shared.number}.bpmn`;
    this._asked = 0;
    this.findings = [];

    eventBus.on('editorActions.init', ({ editorActions }) => editorActions.register({
      orgflowCheck: ({ address }) => this.connect(address),
      orgflowHide: () => this.hide(),
      orgflowFailed: ({ message }) => this._show([], message)
    }));
    eventBus.on([ 'commandStack.changed', 'import.done' ], () => this._later());
    eventBus.on('diagram.destroy', () => clearTimeout(this._timer));
    commandStack.registerHandler('orgflow.fix', FixHandler);
  }

  OrgflowFindings.$inject = [
    'eventBus', 'canvas', 'overlays', 'elementRegistry', 'commandStack', 'injector', 'bpmnjs'
  ];

  OrgflowFindings.prototype.connect = function(address) {
    shared.address = address;
    return this.check();
  };

  OrgflowFindings.prototype.hide = function() {
    shared.address = null;
    this._asked++;
    this.findings = [];
    this._clear();
  };

  OrgflowFindings.prototype._later = function() {
    clearTimeout(this._timer);
    if (shared.address) {
      this._timer = setTimeout(() => this.check(), PAUSE);
    }
  };

  /** Ask for the findings of the diagram as it is, and show them. */
  OrgflowFindings.prototype.check = async function() {
    const asked = ++this._asked;
    let answer;
    try {
      const { xml } = await this._bpmnjs.saveXML({ format: true });
      const response = await fetch(shared.address, {
        method: 'POST',
        body: JSON.stringify({ name: this._name, xml })
      });
      answer = await response.json();
    } catch (error) {
      answer = { fault: `orgflow cannot be asked: ${error.message}` };
    }
    if (asked === this._asked) {  // else the diagram has changed, or the findings are hidden
      this._show(answer.findings || [], answer.fault);
    }
  };

  OrgflowFindings.prototype._clear = function() {
    this._overlays.remove({ type: 'orgflow' });
    if (this._panel) {
      this._panel.remove();
      this._panel = null;
    }
  };

  OrgflowFindings.prototype._show = function(findings, fault) {
    this._clear();
    this.findings = findings;
    const byElement = new Map();
    findings.forEach((finding, at) => {
      if (this._drawn(finding.element)) {
        byElement.set(finding.element, [ ...(byElement.get(finding.element) || []), at ]);
      }
    });
    for (const [ element, found ] of byElement) {
      const worst = found.map(at => findings[at].severity).sort((a, b) => RANK[a] - RANK[b])[0];
      const badge = create('div', `orgflow-badge orgflow-${worst}`, String(found.length));
      badge.title = found.map(at => findings[at].message).join('\n\n');
      badge.addEventListener('click', () => this._choose(found[0]));
      const drawn = this._elementRegistry.get(element);
      this._overlays.add(element, 'orgflow', {
        position: drawn.waypoints ? { top: -9, left: 0 } : { top: -9, right: 9 },
        html: badge
      });
    }
    this._panel = this._list(findings, fault);
    this._canvas.getContainer().appendChild(this._panel);
  };

  OrgflowFindings.prototype._drawn = function(id) {
    const element = id && this._elementRegistry.get(id);
    return element && element !== this._canvas.getRootElement() ? element : null;
  };

  OrgflowFindings.prototype._list = function(findings, fault) {
    const panel = create('div', 'orgflow-panel');
    const count = findings.length;
    panel.appendChild(create('header', '', count === 0 ? 'orgflow: no findings'
      : count === 1 ? 'orgflow: 1 finding' : `orgflow: ${count} findings`));
    if (fault) {
      panel.firstChild.textContent = 'orgflow';
      panel.appendChild(create('div', 'orgflow-fault', fault));
    }
    const list = create('ul');
    findings.forEach((finding, at) => {
      const item = create('li');
      const [ message, ...help ] = finding.message.split('\n');
      item.appendChild(create('span', `orgflow-code orgflow-${finding.severity}`, finding.code));
      item.appendChild(create('span', '', message[0].toUpperCase() + message.slice(1)));
      if (help.length) {
        item.appendChild(create('div', 'orgflow-help', help.join('\n')));
      }
      for (const fix of finding.fixes) {
        const button = create('button', '', fix.title);
        button.addEventListener('click', event => {
          event.stopPropagation();
          this.fix(fix);
        });
        item.appendChild(button);
      }
      item.addEventListener('click', () => this._choose(at));
      list.appendChild(item);
    });
    panel.appendChild(list);
    return panel;
  };

  /** Show a finding in the panel and on the canvas. */
  OrgflowFindings.prototype._choose = function(at) {
    this._panel.querySelectorAll('li').forEach((item, number) => {
      item.classList.toggle('orgflow-chosen', number === at);
      if (number === at && item.scrollIntoView) {
        item.scrollIntoView({ block: 'nearest' });
      }
    });
    const element = this._drawn(this.findings[at].element);
    if (element) {
      this._injector.get('selection').select(element);
      this._canvas.scrollToElement(element);
    }
  };

  /**
   * Make the diagram what a fix makes of its text, as one step that can be undone. Where the
   * diagram does not become exactly that, nothing is changed.
   */
  OrgflowFindings.prototype.fix = async function({ xml }) {
    const moddle = this._injector.get('moddle');
    const { rootElement: wanted } = await moddle.fromXML(xml);
    const before = this._commandStack._stackIdx;
    let fault = null;
    try {
      this._commandStack.execute('orgflow.fix', { wanted });
    } catch (error) {
      fault = error;
      // The command that failed is still the current one; without it, what was done can be undone.
      Object.assign(this._commandStack._currentExecution, {
        actions: [], dirty: [], trigger: null, execution: false, atomic: false
      });
    }
    const { xml: made } = await this._bpmnjs.saveXML();
    const { rootElement: now } = await moddle.fromXML(made);
    if (fault || signature(now) !== signature(wanted)) {
      if (this._commandStack._stackIdx !== before) {
        this._commandStack.undo();
      }
      this._asked++;
      clearTimeout(this._timer);
      this._show(this.findings, 'This fix cannot be made on the canvas. Save the diagram and run '
        + 'orgflowc check --fix, which writes it into the file.');
      return;
    }
    await this.check();
  };

  // -- one definition made of another -------------------------------------------------------

  /** Flow nodes and sequence flows by id. */
  function flowElements(definitions) {
    const found = new Map();
    const visit = scope => {
      for (const element of scope.flowElements || []) {
        if (element.id) {
          found.set(element.id, element);
        }
        visit(element);
      }
    };
    (definitions.rootElements || []).forEach(visit);
    return found;
  }

  const SKIPPED = new Set([
    'id', 'incoming', 'outgoing', 'flowElements', 'artifacts', 'laneSets', 'sourceRef', 'targetRef',
    'attachedToRef', 'lanes', 'di'
  ]);

  /** What an element says, without its ends and what is in it. */
  function content(element) {
    const shown = value => {
      if (Array.isArray(value)) {
        return value.map(shown);
      }
      if (value && value.$type) {
        return value.id && value !== element && value.$type !== 'bpmn:FormalExpression'
          ? value.id : content(value);
      }
      return value;
    };
    const found = { $type: element.$type };
    for (const { name, isReference, default: standard } of properties(element)) {
      const value = element.get(name);
      if (value === undefined || value === standard || (Array.isArray(value) && !value.length)) {
        continue;
      }
      found[name] = isReference ? [].concat(value).map(v => v && v.id) : shown(value);
    }
    return { ...found, ...element.$attrs };
  }

  function properties(element) {
    return (element.$descriptor ? element.$descriptor.properties : [])
      .map(p => ({ ...p, name: p.ns ? p.ns.localName : p.name, full: p.name }))
      .filter(p => !SKIPPED.has(p.name) && !p.isVirtual)
      .map(p => ({ ...p, name: p.full }));
  }

  function ends(element) {
    const id = part => element[part] && element[part].id;
    return [ id('sourceRef'), id('targetRef'), id('attachedToRef') ];
  }

  /** The model as text, independent of order and drawing. */
  function signature(definitions) {
    const flow = [ ...flowElements(definitions) ]
      .map(([ id, e ]) => [ id, content(e), ends(e), e.$parent && e.$parent.id ]);
    const roots = (definitions.rootElements || []).map(e => [ e.id, content(e), lanes(e) ]);
    return JSON.stringify([ ...flow, ...roots ].sort(([ a ], [ b ]) => a < b ? -1 : 1));
  }

  /** Lanes of a process with what is in them. */
  function lanes(scope) {
    return (scope.laneSets || []).flatMap(set => (set.lanes || []).map(lane => [
      lane.id, lane.name, (lane.flowNodeRef || []).map(e => e.id).sort(),
      lane.childLaneSet ? lanes({ laneSets: [ lane.childLaneSet ] }) : []
    ]));
  }

  function drawings(definitions) {
    const found = new Map();
    for (const diagram of definitions.diagrams || []) {
      for (const di of (diagram.plane && diagram.plane.planeElement) || []) {
        if (di.bpmnElement) {
          found.set(di.bpmnElement.id, di);
        }
      }
    }
    return found;
  }

  function FixHandler(modeling, elementRegistry, elementFactory, bpmnReplace, bpmnFactory, canvas, bpmnjs) {
    Object.assign(this, {
      modeling, elementRegistry, elementFactory, bpmnReplace, bpmnFactory, canvas, bpmnjs
    });
  }

  FixHandler.$inject = [
    'modeling', 'elementRegistry', 'elementFactory', 'bpmnReplace', 'bpmnFactory', 'canvas',
    'bpmnjs'
  ];

  FixHandler.prototype.preExecute = function({ wanted }) {
    const target = flowElements(wanted);
    const drawn = drawings(wanted);
    this._remove(target);
    this._removeUndrawn(target);
    const present = flowElements(this.bpmnjs.getDefinitions());
    for (const id of target.keys()) {
      if (present.has(id) && !this.elementRegistry.get(id)) {
        target.delete(id);  // a flow without an end, which bpmn-js keeps but does not draw
      }
    }
    for (const [ id, element ] of target) {
      const there = this.elementRegistry.get(id);
      if (there && there.type !== element.$type) {
        const definition = (element.eventDefinitions || [])[0];
        this.bpmnReplace.replaceElement(there, {
          type: element.$type, ...(definition ? { eventDefinitionType: definition.$type } : {})
        }, { autoResize: false });
      }
    }
    const isFlow = element => element.$type === 'bpmn:SequenceFlow';
    for (const [ id, element ] of target) {
      if (!isFlow(element) && !this.elementRegistry.get(id)) {
        this._addShape(element, drawn.get(id));
      }
    }
    for (const [ id, element ] of target) {
      if (isFlow(element)) {
        this._connect(id, element, drawn.get(id));
      }
    }
    for (const [ id, element ] of target) {
      this._update(this.elementRegistry.get(id), element);
    }
  };

  FixHandler.prototype.execute = function() {
    return [];
  };

  FixHandler.prototype._remove = function(target) {
    const gone = this.elementRegistry.filter(e =>
      !e.labelTarget && e.parent && !target.has(e.id)
      && (e.businessObject.$instanceOf('bpmn:FlowNode') || e.type === 'bpmn:SequenceFlow')
    );
    // Flows first: a step that goes with its flows in place has them joined.
    for (const element of gone.filter(e => e.waypoints)) {
      this.modeling.removeConnection(element);
    }
    for (const element of gone.filter(e => !e.waypoints)) {
      this.modeling.removeElements([ element ]);
    }
  };

  /** Remove flows that are in the model, but not on the canvas. */
  FixHandler.prototype._removeUndrawn = function(target) {
    for (const [ id, element ] of flowElements(this.bpmnjs.getDefinitions())) {
      if (!target.has(id) && !this.elementRegistry.get(id)) {
        const scope = element.$parent;
        this.modeling.updateModdleProperties(this.canvas.getRootElement(), scope, {
          flowElements: scope.flowElements.filter(e => e !== element)
        });
        for (const [ end, part ] of [ [ element.sourceRef, 'outgoing' ], [ element.targetRef, 'incoming' ] ]) {
          if (end) {
            this.modeling.updateModdleProperties(this.canvas.getRootElement(), end, {
              [part]: end.get(part).filter(e => e !== element)
            });
          }
        }
      }
    }
  };

  FixHandler.prototype._parent = function(element) {
    return this.elementRegistry.get(element.$parent.id) || this.canvas.getRootElement();
  };

  FixHandler.prototype._addShape = function(element, di) {
    const businessObject = this.bpmnFactory.create(element.$type, { id: element.id });
    const shape = this.elementFactory.createShape({ type: element.$type, businessObject });
    const { x, y, width, height } = di.bounds;
    this.modeling.createShape(
      shape, { x: x + width / 2, y: y + height / 2 }, this._parent(element)
    );
  };

  FixHandler.prototype._connect = function(id, element, di) {
    const there = this.elementRegistry.get(id);
    const [ source, target ] = ends(element).map(end => this.elementRegistry.get(end));
    const waypoints = di && di.waypoint.map(({ x, y }) => ({ x, y }));
    if (!there) {
      const businessObject = this.bpmnFactory.create(element.$type, { id });
      this.modeling.createConnection(
        source, target, { type: element.$type, businessObject, waypoints }, this._parent(element)
      );
      return;
    }
    if (there.source !== source) {
      this.modeling.reconnectStart(there, source, waypoints[0]);
    }
    if (there.target !== target) {
      this.modeling.reconnectEnd(there, target, waypoints[waypoints.length - 1]);
    }
  };

  /** Give an element the content that it is to have. */
  FixHandler.prototype._update = function(there, element) {
    const changed = {};
    const mine = there.businessObject;
    for (const { name, isReference } of properties(element)) {
      const [ old, next ] = [ mine.get(name), element.get(name) ];
      const shown = value => JSON.stringify(
        [].concat(value === undefined ? [] : value)
          .map(v => v && v.$type ? (isReference ? v.id : content(v)) : v)
      );
      if (shown(old) !== shown(next)) {
        changed[name] = isReference && !Array.isArray(next)
          ? next && (this.elementRegistry.get(next.id) || {}).businessObject
          : adopted(next, mine);
      }
    }
    for (const name of Object.keys({ ...mine.$attrs, ...element.$attrs })) {
      if (mine.$attrs[name] !== element.$attrs[name]) {
        changed[name] = element.$attrs[name];  // of other namespaces, such as orgflow:suppress
      }
    }
    if (Object.keys(changed).length) {
      this.modeling.updateProperties(there, changed);
    }
  };

  /** A part of the other definition as a part of this one. */
  function adopted(value, parent) {
    [].concat(value === undefined ? [] : value).forEach(part => {
      if (part && part.$type) {
        part.$parent = parent;
      }
    });
    return value;
  }

  window.plugins = window.plugins || [];
  window.plugins.push({
    type: 'bpmn.modeler.additionalModules',
    plugin: {
      __init__: [ 'orgflowFindings' ],
      orgflowFindings: [ 'type', OrgflowFindings ]
    }
  });
})();
